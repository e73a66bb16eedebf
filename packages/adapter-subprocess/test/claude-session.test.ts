import type { SteerMessage, Turn } from "@acp-steering/kit";
import { type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import { describe, expect, test } from "vitest";
import type { Agent, Channel, Opening, SessionUpdate } from "../src/dialect.js";
import { ClaudeSession } from "../src/dialects/claude-session.js";

const OPENING: Opening = { kind: "new", cwd: "/project", mcpServers: [], additionalDirectories: [] };
const INIT = { type: "system", subtype: "init", capabilities: ["msg_lifecycle_v1"] };
const REQUESTING = { type: "system", subtype: "status", status: "requesting" };

/** A Claude Code in which everything happens when the test says so. */
class PlayedClaude implements Channel {
  readonly cwd = "/project";
  readonly sent: JsonRecord[] = [];
  readonly logged: string[] = [];
  readonly session = new ClaudeSession(this, {} as Agent);
  isStopped = false;

  async start(): Promise<void> {
    await this.session.start(OPENING);
    this.sent.length = 0;
  }

  readonly log = (line: string): void => void this.logged.push(line);

  async send(record: JsonRecord): Promise<void> {
    this.sent.push(record);
    const { type, request_id } = record;
    if (type !== "control_request") return;
    const { subtype } = recordOf(record["request"]);
    const response = subtype === "get_settings" ? { applied: { model: "m" } } : { models: [], commands: [] };
    setImmediate(() => this.say({ type: "control_response", response: { subtype: "success", request_id, response } }));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
  }

  say(...records: JsonRecord[]): void {
    for (const record of records) this.session.receive(record);
  }

  /** What becomes of a message that it was given. */
  follow(message: JsonRecord | undefined, ...states: string[]): void {
    for (const state of states) this.say({ type: "command_lifecycle", command_uuid: message?.["uuid"], state });
  }

  get messages(): JsonRecord[] {
    return this.sent.filter(({ type }) => type === "user");
  }

  get requests(): string[] {
    return this.sent.flatMap(({ request }) => (request ? [textOf(recordOf(request)["subtype"])] : []));
  }
}

function turnOf(updates: SessionUpdate[] = []): Turn {
  return {
    prompt: [{ type: "text", text: "Do it" }],
    continuation: false,
    signal: new AbortController().signal,
    update: (update) => updates.push(update),
    flushed: async () => {},
    requestPermission: async () => ({ outcome: { outcome: "cancelled" } }),
    take: () => [],
  };
}

function steerOf(): { message: SteerMessage; reports: string[] } {
  const reports: string[] = [];
  const message: SteerMessage = {
    messageId: "steer-1",
    turnId: "turn",
    prompt: [{ type: "text", text: "Not that" }],
    signal: new AbortController().signal,
    delivered: () => reports.push("delivered"),
    undelivered: () => reports.push("undelivered"),
  };
  return { message, reports };
}

const SUCCESS = { type: "result", subtype: "success", is_error: false };
const ANSWERS = { type: "stream_event", event: { type: "message_start", message: { id: "m1" } } };

async function running(): Promise<{ claude: PlayedClaude; outcome: Promise<unknown> }> {
  const claude = new PlayedClaude();
  await claude.start();
  const outcome = claude.session.prompt(turnOf());
  outcome.catch(() => {});
  claude.follow(claude.messages[0], "queued", "started");
  claude.say(INIT, REQUESTING);
  return { claude, outcome };
}

describe("a session of Claude Code", () => {
  test("G1 running: a steer before the model is asked waits, and does not become part of the prompt", async () => {
    const claude = new PlayedClaude();
    await claude.start();
    void claude.session.prompt(turnOf());
    void claude.session.steer(steerOf().message);
    expect(claude.messages).toHaveLength(1);
    claude.say(INIT, REQUESTING);
    expect(claude.messages[1]).toMatchObject({ priority: "now" });
  });

  test("G1 running: a steer waits for a tool whose input has come, and breaks off one whose input still comes", async () => {
    const { claude } = await running();
    const begun = { type: "content_block_start", content_block: { type: "tool_use", id: "t1", name: "Write" } };
    claude.say(ANSWERS, { type: "stream_event", event: begun });
    void claude.session.steer(steerOf().message);
    const call = { type: "tool_use", id: "t1", name: "Write", input: { file_path: "/project/a", content: "" } };
    claude.say({ type: "assistant", uuid: "a1", message: { id: "m1", content: [call] } });
    void claude.session.steer(steerOf().message);
    expect(claude.messages.slice(1)).toMatchObject([{ priority: "now" }, { priority: "next" }]);
  });

  test("G4 one answer: a turn that a steer begins after the prompt's result belongs to the prompt", async () => {
    const { claude, outcome } = await running();
    const { message, reports } = steerOf();
    const verdict = claude.session.steer(message);
    const [prompt, steer] = claude.messages;
    claude.say(ANSWERS, SUCCESS);
    claude.follow(prompt, "completed");
    claude.follow(steer, "queued", "started");
    claude.say(INIT, REQUESTING, ANSWERS, { ...SUCCESS, stop_reason: "max_tokens" });
    expect(reports).toEqual(["delivered"]);
    claude.follow(steer, "completed");
    expect(await outcome).toMatchObject({ stopReason: "max_tokens" });
    expect(await verdict).toBe("accepted");
    expect(claude.isStopped).toBe(false);
  });

  test("G6 cancel: a steer that stands in the conversation unread is left behind with its child, and handed back", async () => {
    const { claude, outcome } = await running();
    const { message, reports } = steerOf();
    claude.say(ANSWERS, { type: "assistant", uuid: "a1", message: { id: "m1", content: [] } });
    void claude.session.steer(message);
    const [prompt, steer] = claude.messages;
    claude.follow(steer, "queued");
    claude.follow(prompt, "cancelled");
    claude.follow(steer, "started");
    claude.session.interrupt();
    claude.say({
      type: "user",
      uuid: "u1",
      message: { content: [{ type: "text", text: "[Request interrupted by user]" }] },
    });
    claude.follow(steer, "cancelled");
    expect(await outcome).toMatchObject({ stopReason: "cancelled" });
    expect(reports).toEqual(["undelivered"]);
    expect(claude.isStopped).toBe(true);
    expect(claude.session.conversation()).toMatchObject({ upTo: "a1" });
  });

  test("G6 cancel: what Claude Code has not read is dropped there and handed back, and its child lives on", async () => {
    const { claude, outcome } = await running();
    const { message, reports } = steerOf();
    void claude.session.steer(message);
    const [prompt, steer] = claude.messages;
    claude.follow(steer, "queued");
    claude.session.interrupt();
    claude.follow(steer, "cancelled");
    claude.follow(prompt, "cancelled");
    expect(await outcome).toMatchObject({ stopReason: "cancelled" });
    expect(claude.sent).toContainEqual(
      expect.objectContaining({ request: { subtype: "interrupt", cancel_queued: true } }),
    );
    expect([reports, claude.isStopped]).toEqual([["undelivered"], false]);
  });

  test("G8 containment: a child that ends before it has said that it has a steer never had it", async () => {
    const { claude, outcome } = await running();
    const verdict = claude.session.steer(steerOf().message);
    claude.session.ended(new Error("it is gone"));
    await expect(outcome).rejects.toThrow("it is gone");
    expect(await verdict).toBe("tooLate");
  });

  test("G8 containment: a Claude Code that does not tell what becomes of a message is refused", async () => {
    const claude = new PlayedClaude();
    await claude.start();
    const outcome = claude.session.prompt(turnOf());
    claude.say({ ...INIT, capabilities: [] });
    await expect(outcome).rejects.toMatchObject({
      message: expect.stringContaining("claude update"),
      data: { reason: "vendorTooOld" },
    });
  });

  test("G4 one answer: a turn that nobody has asked for is interrupted", async () => {
    const claude = new PlayedClaude();
    await claude.start();
    claude.say(INIT);
    expect(claude.requests).toEqual(["interrupt"]);
    expect(claude.logged).toEqual([expect.stringContaining("nobody asked for")]);
  });

  test("what nobody knows is left aside, and a subagent's words are not the agent's", async () => {
    const claude = new PlayedClaude();
    await claude.start();
    const updates: SessionUpdate[] = [];
    const outcome = claude.session.prompt(turnOf(updates));
    const text = { content: [{ type: "text", text: "of a subagent" }] };
    claude.say({ type: "from_the_future" }, { type: "system" }, { type: "assistant" }, { type: "user", message: 5 });
    claude.say({ type: "assistant", parent_tool_use_id: "t1", message: text }, SUCCESS);
    claude.follow(claude.messages[0], "completed");
    expect(await outcome).toEqual({ stopReason: "end_turn" });
    expect(updates).toEqual([]);
  });

  test.each([
    [{ subtype: "error_max_turns", is_error: true }, { stopReason: "max_turn_requests" }],
    [{ stop_reason: "refusal" }, { stopReason: "refusal" }],
    [
      { usage: { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 1 } },
      { stopReason: "end_turn", usage: { inputTokens: 3, outputTokens: 2, cachedReadTokens: 1, totalTokens: 6 } },
    ],
  ])("the result %j is %j", async (result, outcome) => {
    const { claude, outcome: settled } = await running();
    claude.say({ ...SUCCESS, ...result });
    claude.follow(claude.messages[0], "completed");
    expect(await settled).toMatchObject(outcome);
  });
});
