import { type ClientConnection, client, methods, type Stream } from "@agentclientprotocol/sdk/unstable";
import type { MessageStream } from "../../src/protocol.js";
import type { Message } from "./history.js";
import type { Action, Actor } from "./scenario.js";
import type { Schedule } from "./schedule.js";

const LINK = { type: "resource_link", name: "notes", uri: "file:///notes" } as const;

/** Gives every message of a world words of its own: `m0`, `m1`, … */
type NextToken = () => string;

/** What only the world can do for a client. */
export interface Surroundings {
  readonly sessions: readonly string[];
  readonly nextToken: NextToken;
  leave(): void;
  agentLeaves(): void;
  agentActs(sessionId: string): void;
}

/** A client of the SDK that does what its script says, each action when the schedule says so. */
export class ScriptedClient {
  private readonly connection: ClientConnection;
  private readonly prompts: AbortController[] = [];
  private readonly messageIds: string[] = [];
  private turnId = "none yet";
  private hasLeft = false;
  private decide: () => void = () => {};
  private readonly decided: Promise<void>;
  readonly name: string;
  private readonly actor: Actor;
  private readonly schedule: Schedule;
  private readonly surroundings: Surroundings;

  constructor(name: string, actor: Actor, stream: MessageStream, schedule: Schedule, surroundings: Surroundings) {
    this.name = name;
    this.actor = actor;
    this.schedule = schedule;
    this.surroundings = surroundings;
    this.decided = new Promise((resolve) => {
      this.decide = resolve;
    });
    this.connection = client({ name })
      .onRequest(methods.client.session.requestPermission, async () => {
        if (!actor.decides) await this.decided;
        await schedule.pass(`${name} decides`);
        return { outcome: { outcome: "selected", optionId: "yes" } };
      })
      .onRequest(methods.client.fs.writeTextFile, () => ({}))
      .onNotification("*", () => {})
      .connect(stream as Stream);
  }

  async initialize(): Promise<void> {
    const { receipts, echo } = this.actor;
    const clientCapabilities = { _meta: { steering: { receipts, echo } } };
    await this.request("initialize", { protocolVersion: 1, clientCapabilities });
  }

  async newSession(): Promise<string> {
    const { sessionId } = (await this.request("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string };
    return sessionId;
  }

  load(sessionId: string): Promise<unknown> {
    return this.request("session/load", { sessionId, cwd: "/", mcpServers: [] });
  }

  prompt(sessionId: string, text: string): Promise<unknown> {
    const controller = new AbortController();
    this.prompts.push(controller);
    const prompt = [{ type: "text", text }];
    return this.request("session/prompt", { sessionId, prompt }, controller.signal);
  }

  /** Its user answers whatever was asked. */
  giveIn(): void {
    this.decide();
  }

  /** Learns what a client can know from what it is sent. */
  notice({ params, result }: Message): void {
    const steering = result?._meta?.steering;
    if (steering?.messageId) this.messageIds.push(steering.messageId);
    this.turnId = steering?.turnId ?? params?.turnId ?? this.turnId;
  }

  async act(): Promise<void> {
    for (const action of this.actor.actions) {
      await this.schedule.pass(`${this.name} acts`);
      if (this.hasLeft) return;
      this.perform(action);
    }
  }

  private async request(method: string, params: object, cancellationSignal?: AbortSignal): Promise<unknown> {
    return this.connection.agent
      .request(method, params, cancellationSignal ? { cancellationSignal } : {})
      .catch(() => ({}));
  }

  private notify(method: string, params: object): void {
    void this.connection.agent.notify(method, params).catch(() => {});
  }

  private perform(action: Action): void {
    const { nextToken, sessions, leave, agentLeaves, agentActs } = this.surroundings;
    const sessionId = "session" in action ? (sessions[action.session] as string) : "";
    switch (action.do) {
      case "prompt":
        return void this.prompt(sessionId, nextToken());
      case "steerCommand":
        return void this.prompt(sessionId, `/steer ${nextToken()}`);
      case "queueCommand":
        return void this.prompt(sessionId, `/queue ${nextToken()}`);
      case "steer":
        return void this.steer(sessionId, nextToken(), action);
      case "revoke": {
        const messageId = this.messageIds[this.messageIds.length - 1 - action.which];
        if (messageId) void this.request("_session/steering/revoke", { sessionId: sessions[0], messageId });
        return;
      }
      case "withdraw":
        return this.prompts[this.prompts.length - 1 - action.which]?.abort();
      case "cancel":
        return this.notify("session/cancel", { sessionId });
      case "close":
        return void this.request("session/close", { sessionId });
      case "load":
        return void this.load(sessionId);
      case "agentActs":
        return agentActs(sessionId);
      case "leave":
        this.hasLeft = true;
        return leave();
      case "agentLeaves":
        return agentLeaves();
    }
  }

  private async steer(sessionId: string, token: string, action: Action & { do: "steer" }): Promise<void> {
    const { clientMessageId, expect, idleBehavior, form } = action;
    const expectedTurnId = expect === "current" ? this.turnId : expect;
    const text = { type: "text", text: form === "slash" ? `/${token}` : token };
    const prompt = form === "link" ? [text, LINK] : [text];
    const steering = { clientMessageId, expectedTurnId, idleBehavior };
    await this.request("_session/steering", { sessionId, prompt, _meta: { steering } });
  }
}
