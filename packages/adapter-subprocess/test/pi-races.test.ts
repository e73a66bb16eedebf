/**
 * Races inside Pi that the real one cannot be made to lose or win on demand: its side is played by the test, record by
 * record, as the real one was seen to write them.
 */

import { describe, expect, test } from "vitest";
import { PlayedPi, refused, reply, STATE, settleWith, turnOf, userMessage } from "./played-pi.js";

describe("the end of a run", () => {
  test("G4: is not believed while Pi's state says that it works", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    pi.say(reply("stop"), { type: "agent_end" });
    await pi.answer("get_state", { ...STATE, isStreaming: true });
    await pi.answer("get_state", { ...STATE, isCompacting: true });
    await pi.answer("get_state", STATE);
    expect(await outcome).toEqual({ stopReason: "end_turn" });
  });

  test("G4: is not believed when something happened between the question and the answer", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    pi.say({ type: "agent_end" });
    const question = await pi.next("get_state");
    pi.say({ type: "auto_retry_start" });
    pi.say({ type: "response", id: question["id"], command: "get_state", success: true, data: STATE });
    pi.say({ type: "agent_start" }, reply("length"));
    await pi.settle();
    expect(await outcome).toEqual({ stopReason: "max_tokens" });
  });

  test("G4: waits for the run that Pi starts after a compaction, and ends without it where none comes", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    pi.say({ type: "agent_end" }, { type: "compaction_start" }, { type: "compaction_end", willRetry: true });
    await pi.answer("get_state", STATE);
    await pi.answer("get_state", { ...STATE, messageCount: 2 });
    expect(await outcome).toEqual({ stopReason: "end_turn" });
  });

  test("G4: a prompt without a run is over only when no message of it is on its way", async () => {
    const pi = new PlayedPi();
    const outcome = pi.session.prompt(turnOf("/command"));
    await pi.answer("get_state", { ...STATE, messageCount: 7 });
    await pi.answer("prompt");
    await pi.answer("get_state", { ...STATE, messageCount: 8 });
    await pi.answer("get_state", { ...STATE, messageCount: 7 });
    expect(await outcome).toEqual({ stopReason: "end_turn" });
  });

  test("closes the tool calls that the model asked for and Pi did not run", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    const toolCall = { id: "call", name: "bash", arguments: { command: "true" } };
    pi.say({ type: "message_update", assistantMessageEvent: { type: "toolcall_end", toolCall } }, reply("error"));
    await pi.settle();
    await expect(outcome).rejects.toThrow("Pi's model failed");
    expect(pi.events.map((event) => JSON.parse(event))).toMatchObject([
      { sessionUpdate: "tool_call", toolCallId: "call", status: "pending" },
      { sessionUpdate: "tool_call_update", toolCallId: "call", status: "failed" },
    ]);
  });

  test("a refusal of the prompt is an error with Pi's words", async () => {
    const pi = new PlayedPi();
    const { outcome } = await refused(pi, "No API key found");
    await expect(outcome).rejects.toMatchObject({
      message: expect.stringMatching(/Pi did not take the prompt: No API key found\n.*run `pi` in a terminal/),
      data: { reason: "promptRefused" },
    });
  });
});

describe("a steer", () => {
  test("before Pi's run has begun is held back, then handed over in order", async () => {
    const pi = new PlayedPi();
    const outcome = pi.session.prompt(turnOf("go"));
    const early = [pi.steer("one"), pi.steer("two")];
    await pi.answer("get_state", { ...STATE, messageCount: 0 });
    await pi.answer("prompt");
    expect(pi.commands.filter(({ type }) => type === "steer")).toEqual([]);
    pi.say({ type: "agent_start" });
    expect((await pi.answer("steer"))["message"]).toBe("one");
    expect((await pi.answer("steer"))["message"]).toBe("two");
    expect(await Promise.all(early.map(({ verdict }) => verdict))).toEqual(["accepted", "accepted"]);
    pi.say(userMessage("go"), userMessage("one"), userMessage("two"));
    pi.say({ type: "agent_end" });
    await settleWith(pi, outcome);
    expect(pi.events).toEqual(["delivered one", "delivered two"]);
  });

  test("that is aborted while it is held back never reaches Pi", async () => {
    const pi = new PlayedPi();
    const outcome = pi.session.prompt(turnOf("go"));
    await pi.answer("get_state", { ...STATE, messageCount: 0 });
    const { verdict, abort } = pi.steer("revoked");
    abort();
    expect(await verdict).toBe("tooLate");
    await pi.answer("prompt");
    pi.say({ type: "agent_start" }, { type: "agent_end" });
    await settleWith(pi, outcome);
    expect(pi.commands.filter(({ type }) => type === "steer")).toEqual([]);
  });

  test("that Pi uses before it answers for it is delivered, and reported once", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    const { verdict } = pi.steer("quick");
    const command = await pi.next("steer");
    pi.say(userMessage("quick"));
    expect(await verdict).toBe("delivered");
    pi.say({ type: "response", id: command["id"], command: "steer", success: true });
    await pi.settle();
    await outcome;
    expect(pi.events).toEqual([]);
  });

  test("G2: is recognised by the text that Pi queued, not by the text that it was given", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    const plain = pi.steer("plain");
    pi.say({ type: "queue_update", steering: ["plain"] });
    await pi.answer("steer");
    const template = pi.steer("/template");
    pi.say({ type: "queue_update", steering: ["plain", "expanded"] });
    await pi.answer("steer");
    await Promise.all([plain.verdict, template.verdict]);
    pi.say(userMessage("expanded"));
    expect(pi.events).toEqual(["delivered /template"]);
    pi.say(userMessage("plain"));
    await pi.settle();
    await outcome;
    expect(pi.events).toEqual(["delivered /template", "delivered plain"]);
  });

  test("G2: equal to the prompt is not taken for the prompt", async () => {
    const pi = new PlayedPi();
    const outcome = pi.session.prompt(turnOf("same"));
    await pi.answer("get_state", { ...STATE, messageCount: 0 });
    await pi.answer("prompt");
    pi.say({ type: "agent_start" });
    const { verdict } = pi.steer("same");
    await pi.answer("steer");
    expect(await verdict).toBe("accepted");
    pi.say(userMessage("same"));
    expect(pi.events).toEqual([]);
    pi.say(userMessage("same"), { type: "agent_end" });
    await settleWith(pi, outcome);
    expect(pi.events).toEqual(["delivered same"]);
  });

  test("that Pi refuses as a steer is unsupported, so that it is continued as a prompt", async () => {
    const pi = new PlayedPi();
    await pi.begin();
    const { verdict } = pi.steer("/extension-command");
    const command = await pi.next("steer");
    pi.say({ type: "response", id: command["id"], command: "steer", success: false, error: "cannot be queued" });
    expect(await verdict).toBe("unsupported");
  });

  test("G1 G2: whose answer is still out when the run ends is waited for, withdrawn, and handed back", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    const { verdict } = pi.steer("late");
    const command = await pi.next("steer");
    await pi.settle();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await pi.steer("later").verdict).toBe("tooLate");
    expect(pi.commands).toEqual([]);
    pi.say({ type: "response", id: command["id"], command: "steer", success: true });
    expect(await verdict).toBe("accepted");
    await pi.refuse("clear_queue");
    expect((await pi.answer("switch_session", { cancelled: false }))["sessionPath"]).toBe("/session.jsonl");
    expect(await outcome).toEqual({ stopReason: "end_turn" });
    expect(pi.events).toEqual(["undelivered late"]);
    expect(pi.stopped).toBe(false);
  });

  test("G1 G2: that Pi gives back from its queue is handed back, without loading the session anew", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    const { verdict } = pi.steer("late");
    await pi.answer("steer", { disposition: "queued" });
    await verdict;
    await pi.settle();
    await pi.answer("clear_queue", { steering: ["late"], followUp: [] });
    await outcome;
    expect(pi.events).toEqual(["undelivered late"]);
    expect(pi.commands).toEqual([]);
  });

  test("G1 G2: that an extension of Pi deals with by itself is delivered, and not handed back", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    const { verdict } = pi.steer("for the extension");
    await pi.answer("steer", { disposition: "handled" });
    expect(await verdict).toBe("delivered");
    await pi.settle();
    await outcome;
    expect(pi.events).toEqual([]);
  });

  test("G2: that cannot be withdrawn is handed back only after Pi was stopped", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    const { verdict } = pi.steer("late");
    await pi.answer("steer");
    await verdict;
    await pi.settle();
    await pi.refuse("clear_queue");
    await pi.answer("switch_session", { cancelled: true });
    await outcome;
    expect(pi.stopped).toBe(true);
    expect(pi.events).toEqual(["undelivered late"]);
  });

  test("G1: in Pi's queue is handed back when Pi is gone", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    const { verdict } = pi.steer("lost");
    await pi.answer("steer");
    await verdict;
    pi.session.ended(new Error("killed"));
    await expect(outcome).rejects.toThrow("killed");
    expect(pi.events).toEqual(["undelivered lost"]);
    expect(await pi.steer("after").verdict).toBe("tooLate");
  });
});

describe("an interrupt", () => {
  test("G6: before the prompt was sent keeps it from being sent", async () => {
    const pi = new PlayedPi();
    const outcome = pi.session.prompt(turnOf("go"));
    pi.session.interrupt();
    await pi.answer("get_state", { ...STATE, messageCount: 0 });
    expect(await outcome).toEqual({ stopReason: "cancelled" });
    expect(pi.commands).toEqual([]);
  });

  test("G6: while a steer is on its way into Pi is repeated when Pi has it", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    const { verdict } = pi.steer("late");
    const command = await pi.next("steer");
    pi.session.interrupt();
    await pi.answer("clear_queue", { steering: [], followUp: [] });
    await pi.answer("abort");
    pi.say({ type: "response", id: command["id"], command: "steer", success: true });
    await verdict;
    await pi.answer("clear_queue", { steering: ["late"], followUp: [] });
    await pi.answer("abort");
    await pi.settle();
    await pi.answer("clear_queue", { steering: [], followUp: [] });
    expect(await outcome).toEqual({ stopReason: "cancelled" });
    expect(pi.events).toEqual(["undelivered late"]);
  });

  test("G6: while Pi works by itself stops that, and the prompt is not sent", async () => {
    const pi = new PlayedPi();
    const outcome = pi.session.prompt(turnOf("go"));
    await pi.answer("get_state", { ...STATE, isStreaming: true, messageCount: 0 });
    pi.session.interrupt();
    await pi.answer("get_state", { ...STATE, isStreaming: true, messageCount: 0 });
    await pi.answer("abort");
    await pi.answer("get_state", { ...STATE, messageCount: 2 });
    expect(await outcome).toEqual({ stopReason: "cancelled" });
    expect(pi.commands.filter(({ type }) => type === "prompt")).toEqual([]);
  });

  test("G6: before Pi's run has begun is repeated when it begins", async () => {
    const pi = new PlayedPi();
    const outcome = pi.session.prompt(turnOf("go"));
    await pi.answer("get_state", { ...STATE, messageCount: 0 });
    const { verdict } = pi.steer("held");
    await pi.answer("prompt");
    pi.session.interrupt();
    expect(await verdict).toBe("tooLate");
    await pi.answer("abort");
    pi.say({ type: "agent_start" });
    await pi.answer("abort");
    pi.say(reply("aborted"), { type: "agent_end" });
    await settleWith(pi, outcome);
    expect(await outcome).toEqual({ stopReason: "cancelled" });
  });

  test("G6: between two turns stops what Pi does by itself, and nothing else", async () => {
    const pi = new PlayedPi();
    pi.session.interrupt();
    expect(pi.commands).toEqual([]);
    pi.say({ type: "agent_start" }, { type: "agent_end" }, { type: "auto_retry_start" });
    pi.session.interrupt();
    await pi.answer("abort");
    pi.say({ type: "auto_retry_end", success: false });
    pi.commands.length = 0;
    pi.session.interrupt();
    expect(pi.commands).toEqual([]);
  });

  test("G6: stands against an error that the model reports because of it", async () => {
    const pi = new PlayedPi();
    const { outcome } = await pi.begin();
    pi.session.interrupt();
    await pi.answer("abort");
    pi.say(reply("error"));
    await pi.settle();
    expect(await outcome).toEqual({ stopReason: "cancelled" });
  });
});
