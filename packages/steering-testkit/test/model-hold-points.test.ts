import {
  type HoldPoint,
  type ModelServer,
  type ModelServerOptions,
  type Reply,
  startModelServer,
} from "@acp-steering/testkit/model-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { askRaw, RAW_DIALECTS } from "./model-dialects.js";
import { PartialReader } from "./model-server-client.js";

const start = async (options: ModelServerOptions): Promise<ModelServer> => {
  const model = await startModelServer(options);
  onTestFinished(() => model.close());
  return model;
};

// The pieces by which one can tell how far an answer has come, in the order in which they are sent.
const FIRST = "first piece";
const SECOND = "second piece";
const TOOL = "a-tool";
const PIECES = [FIRST, SECOND, TOOL, "one half", "two half"];

const reply = (holdAt: HoldPoint): Reply => ({
  text: [FIRST, SECOND],
  toolCalls: [{ name: TOOL, arguments: "one halftwo half" }],
  hold: "gate",
  holdAt,
});

const POINTS: readonly [HoldPoint, number][] = [
  ["afterFirstChunk", 1],
  ["afterText", 2],
  ["beforeLastChunk", 4],
  ["beforeEnd", 5],
];

describe.each(RAW_DIALECTS)("a reply in $name that is held", (dialect) => {
  test.each(POINTS)("%s: %i pieces are out, the rest comes with the release", async (point, pieces) => {
    const model = await start({ script: [reply(point)] });
    const reader = new PartialReader(await askRaw(model, dialect));
    await model.held("gate");
    const text = await reader.until(PIECES[pieces - 1] ?? "");
    for (const piece of PIECES.slice(pieces)) expect(text).not.toContain(piece);
    expect(text).not.toContain(dialect.end);
    model.release("gate");
    const whole = await reader.rest();
    for (const piece of PIECES) expect(whole).toContain(piece);
    expect(whole).toContain(dialect.end);
  });

  test("afterText: no tool call has begun", async () => {
    const model = await start({ script: [reply("afterText")] });
    const reader = new PartialReader(await askRaw(model, dialect));
    await model.held("gate");
    expect(await reader.until(SECOND)).not.toContain(dialect.call);
    model.release("gate");
    expect(await reader.rest()).toContain(dialect.call);
  });

  test.each([true, false])("afterHeaders, streamed: %s: the status is there and nothing else", async (stream) => {
    const model = await start({ script: [reply("afterHeaders")] });
    const response = await askRaw(model, dialect, { stream });
    expect(response.status).toBe(200);
    await model.held("gate");
    model.release("gate");
    expect(await response.text()).toContain(FIRST);
  });

  test("in content, not streamed: nothing is sent before the release", async () => {
    const model = await start({ script: [reply("afterFirstChunk")] });
    let answered = false;
    const answer = askRaw(model, dialect, { stream: false }).then((response) => {
      answered = true;
      return response.text();
    });
    await model.held("gate");
    await fetch(`${model.url}/models`);
    expect(answered).toBe(false);
    model.release("gate");
    expect(await answer).toContain(FIRST);
  });

  test("and whose client goes away: recorded, and nothing is held any more", async () => {
    const model = await start({ script: [reply("afterFirstChunk")], control: true });
    const client = new AbortController();
    const response = await askRaw(model, dialect, { signal: client.signal });
    await model.held("gate");
    client.abort();
    await expect(response.text()).rejects.toThrow();
    expect((await model.settled(0)).aborted).toBe(true);
    const held = await (await fetch(new URL("/_control/held", model.url))).json();
    expect(held).toEqual({ held: [] });
  });
});
