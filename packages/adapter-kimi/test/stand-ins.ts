import type { KimiAgentSession, KimiAgentTurn, KimiSdkSession } from "../src/index.js";
import { StandInEngine, type StandInEvent } from "./stand-in-engine.js";

/** As the node SDK's `Session`: one stream of events for all turns; what was not read begins a turn by itself. */
export function standInSdkSession(cwd: string): { engine: StandInEngine; session: KimiSdkSession } {
  const engine = new StandInEngine({ cwd, leftovers: "ghost" });
  const session: KimiSdkSession = {
    prompt: async (input) => engine.begin(input),
    steer: async (input) => engine.steer(input),
    cancel: async () => engine.abort(),
    onEvent: (listener) => {
      engine.emit = listener;
      return () => {
        engine.emit = () => {};
      };
    },
  };
  return { engine, session };
}

/** As the agent SDK's `Session`: a `Turn` for each prompt, which is the stream of its events and has a result. */
export function standInAgentSession(cwd: string): { engine: StandInEngine; session: KimiAgentSession } {
  const engine = new StandInEngine({ cwd, leftovers: "dropped" });
  return { engine, session: { prompt: (content) => beginTurn(engine, content) } };
}

function beginTurn(engine: StandInEngine, content: Parameters<KimiAgentSession["prompt"]>[0]): KimiAgentTurn {
  const events = new EventQueue();
  const result = new Promise<Awaited<KimiAgentTurn["result"]>>((resolve, reject) => {
    engine.emit = (event) => {
      for (const translated of toStreamEvents(event)) events.push(translated);
      if (event.type !== "turn.ended") return;
      events.end();
      if (event["reason"] === "failed") reject(new Error("the model failed"));
      else resolve({ status: event["reason"] === "cancelled" ? "cancelled" : "finished" });
    };
  });
  result.catch(() => {});
  engine.begin(content);
  return {
    steer: async (steer) => engine.steer(steer),
    interrupt: async () => engine.abort(),
    result,
    [Symbol.asyncIterator]: () => events,
  };
}

function toStreamEvents(event: StandInEvent): { type: string; payload: unknown }[] {
  switch (event.type) {
    case "turn.step.started":
      return [{ type: "StepBegin", payload: { n: 1 } }];
    case "turn.steer":
      return [{ type: "SteerInput", payload: { user_input: "" } }];
    case "assistant.delta":
      return [{ type: "ContentPart", payload: { type: "text", text: event["delta"] } }];
    case "tool.call.started": {
      const fn = { name: event["name"], arguments: JSON.stringify(event["args"]) };
      return [{ type: "ToolCall", payload: { id: event["toolCallId"], function: fn } }];
    }
    case "tool.result": {
      const value = { output: event["output"], is_error: false };
      return [{ type: "ToolResult", payload: { tool_call_id: event["toolCallId"], return_value: value } }];
    }
    default:
      return [];
  }
}

type StreamEvent = { type: string; payload: unknown };

class EventQueue implements AsyncIterator<StreamEvent> {
  readonly #events: StreamEvent[] = [];
  #ended = false;
  #wake: () => void = () => {};

  push(event: StreamEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async next(): Promise<IteratorResult<StreamEvent>> {
    while (this.#events.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const value = this.#events.shift();
    return value ? { done: false, value } : { done: true, value: undefined };
  }
}
