import { type AgentApp, type AgentContext, agent, methods, RequestError } from "@agentclientprotocol/sdk/unstable";
import type { Steerable } from "../../src/index.js";
import type { History } from "./history.js";
import type { AgentStep, RunScript, Scenario } from "./scenario.js";
import type { Schedule } from "./schedule.js";

const QUICK: RunScript = { steps: ["say"], end: "end_turn", onCancel: "stops" };

interface OpenRun {
  readonly sessionId: string;
  isCancelled: boolean;
  /** Ends every wait that only a cancel, or the end of all else, ends. */
  readonly wake: () => void;
  readonly woken: Promise<void>;
  /** What it was given and has not shown. */
  readonly unshown: object[];
}

interface PromptParams {
  readonly sessionId: string;
  readonly prompt: readonly object[];
}

/** An agent of the SDK whose runs follow a script, step by step, each step when the schedule says so. */
export class ScriptedAgent {
  readonly app: AgentApp;
  steerable: Steerable | undefined;
  private readonly schedule: Schedule;
  private readonly history: History;
  private readonly scripts: RunScript[];
  private readonly sessions = new Set<string>();
  private readonly openRuns = new Set<OpenRun>();
  private isOver = false;
  private readonly lingering: (() => void)[] = [];

  constructor({ runs, closeFails }: Scenario, schedule: Schedule, history: History) {
    this.schedule = schedule;
    this.history = history;
    this.scripts = [...runs];
    this.app = agent({ name: "scripted" })
      .onRequest(methods.agent.initialize, () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true } }))
      .onRequest(methods.agent.session.new, () => {
        const sessionId = `session${this.sessions.size}`;
        this.sessions.add(sessionId);
        return { sessionId };
      })
      .onRequest(methods.agent.session.load, async ({ params, client }) => {
        this.assertKnown(params.sessionId);
        await schedule.pass("agent loads");
        await this.show(client, params.sessionId, "user_message_chunk", { type: "text", text: "replayed" });
        await schedule.pass("agent loads");
        return {};
      })
      .onRequest(methods.agent.session.close, async ({ params }) => {
        this.assertKnown(params.sessionId);
        await schedule.pass("agent closes");
        if (closeFails) throw new RequestError(-32603, "not now");
        this.sessions.delete(params.sessionId);
        return {};
      })
      .onNotification(methods.agent.session.cancel, ({ params }) => this.cancel(params.sessionId))
      .onRequest(methods.agent.session.prompt, ({ params, client }) => this.run(params, client));
  }

  /** Lets go of what hangs: from now on no run waits for anything but its turn. Says whether there was something. */
  release(): boolean {
    this.isOver = true;
    const hung = this.openRuns.size > 0;
    for (const { wake } of this.openRuns) wake();
    for (const goOn of this.lingering.splice(0)) goOn();
    return hung;
  }

  async show(client: AgentContext, sessionId: string, sessionUpdate: string, content: object): Promise<void> {
    await client.notify<object>("session/update", { sessionId, update: { sessionUpdate, content } }).catch(() => {});
  }

  private assertKnown(sessionId: string): void {
    if (!this.sessions.has(sessionId)) throw RequestError.sessionNotFound(sessionId);
  }

  private cancel(sessionId: string): void {
    for (const run of this.openRuns) {
      if (run.sessionId !== sessionId) continue;
      run.isCancelled = true;
      run.wake();
    }
  }

  private async run(params: PromptParams, client: AgentContext): Promise<{ stopReason: "end_turn" }> {
    this.assertKnown(params.sessionId);
    const script = this.isOver ? QUICK : (this.scripts.shift() ?? QUICK);
    let wake = (): void => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const open: OpenRun = { sessionId: params.sessionId, isCancelled: false, wake, woken, unshown: [...params.prompt] };
    this.openRuns.add(open);
    try {
      return await this.follow(script, open, client);
    } finally {
      this.openRuns.delete(open);
    }
  }

  private async follow(
    { steps, end, onCancel }: RunScript,
    open: OpenRun,
    client: AgentContext,
  ): Promise<{ stopReason: "end_turn" }> {
    for (const step of [...steps, "end"] as const) {
      await this.schedule.pass(`agent in ${open.sessionId}`);
      if (open.isCancelled && onCancel === "lingers" && !this.isOver)
        await new Promise<void>((resolve) => this.lingering.push(resolve));
      if (open.isCancelled && onCancel === "stops") return { stopReason: "cancelled" as "end_turn" };
      if (open.isCancelled && onCancel === "fails") throw new RequestError(-32603, "stopped");
      if (step !== "end") await this.act(step, open, client);
    }
    if (typeof end === "number") throw new RequestError(end, "scripted");
    return { stopReason: end as "end_turn" };
  }

  private async act(step: AgentStep, { sessionId, woken, unshown }: OpenRun, client: AgentContext): Promise<void> {
    if (step === "say") await this.show(client, sessionId, "agent_message_chunk", { type: "text", text: "working" });
    if (step === "echo")
      for (const block of unshown.splice(0)) await this.show(client, sessionId, "user_message_chunk", block);
    if (step === "take") unshown.push(...this.take(sessionId));
    if (step === "ask") await this.ask(client, sessionId);
    if (step === "askAside") void this.ask(client, sessionId);
    if (step === "askBriefly") {
      const controller = new AbortController();
      void this.ask(client, sessionId, controller.signal);
      await this.schedule.pass(`agent in ${sessionId}`);
      controller.abort();
    }
    if (step === "write")
      await client.request("fs/write_text_file", { sessionId, path: "/file", content: "" }).catch(() => {});
    if (step === "hang" && !this.isOver) await woken;
  }

  private take(sessionId: string): readonly object[] {
    const steers = this.steerable?.take(sessionId) ?? [];
    this.history.record({ kind: "took", sessionId, steers });
    return steers.flatMap(({ prompt }) => prompt);
  }

  private async ask(client: AgentContext, sessionId: string, cancellationSignal?: AbortSignal): Promise<void> {
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" as const }];
    const request = { sessionId, toolCall: { toolCallId: "tool" }, options };
    await client
      .request("session/request_permission", request, cancellationSignal ? { cancellationSignal } : {})
      .catch(() => {});
  }
}
