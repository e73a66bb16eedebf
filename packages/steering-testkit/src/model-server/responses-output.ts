import type { Answer, ReplyPart } from "./dialect.js";
import { asObject, asText, type JsonObject, objectsIn } from "./json.js";
import { partsOf } from "./reply-parts.js";
import type { ModelRequest } from "./request.js";
import type { EventData } from "./sse.js";

/** The id of the response that answers a request; unlike an index it is not used again after a restart. */
export const idOf = ({ at, index }: ModelRequest): string => `resp_${at.toString(36)}_${index}`;

type ItemKind = "reasoning" | "message" | "function_call" | "custom_tool_call";

interface OpenItem {
  readonly kind: ItemKind;
  readonly id: string;
  /** The fields that do not change while the item grows. */
  readonly head: JsonObject;
  text: string;
}

const PREFIXES: Readonly<Record<ItemKind, string>> = {
  reasoning: "rs",
  message: "msg",
  function_call: "fc",
  custom_tool_call: "ctc",
};

/** How the request offers a tool: its type, which is `custom` for free text, and its namespace where it has one. */
const offeredAs = (body: unknown, name: string): JsonObject => {
  const search = (tools: unknown, namespace?: string): JsonObject | undefined => {
    for (const tool of objectsIn(tools)) {
      if (tool["type"] === "namespace") {
        const found = search(tool["tools"], asText(tool["name"]));
        if (found !== undefined) return found;
      } else if (tool["name"] === name) return { type: tool["type"], ...(namespace !== undefined && { namespace }) };
    }
    return undefined;
  };
  return search(asObject(body)["tools"]) ?? {};
};

/** Builds the output items of one response from the parts of a reply, and says what is to be sent on the way. */
export class ResponseOutput {
  readonly items: JsonObject[] = [];
  readonly #answer: Answer;
  readonly #isRefusal: boolean;
  #open: OpenItem | undefined;

  constructor(answer: Answer) {
    this.#answer = answer;
    this.#isRefusal = answer.reply.finishReason === "refusal";
  }

  part(part: ReplyPart): readonly EventData[] {
    switch (part.kind) {
      case "reasoning":
        return [...this.#enter("reasoning", {}), ...this.#grow(part.text)];
      case "text":
        return [...this.#enter("message", { role: "assistant" }), ...this.#grow(part.text)];
      case "toolCall": {
        const { type, ...namespace } = offeredAs(this.#answer.request.body, part.name);
        const kind = type === "custom" ? "custom_tool_call" : "function_call";
        return [...this.close(), ...this.#start(kind, { call_id: part.id, name: part.name, ...namespace })];
      }
      case "toolArguments":
        return this.#grow(part.fragment);
    }
  }

  /** Ends the item that is still open. */
  close(): readonly EventData[] {
    const open = this.#open;
    if (open === undefined) return [];
    this.#open = undefined;
    const item = this.#itemOf(open, "completed");
    this.items.push(item);
    // The item that was just ended is the last one, no longer the next.
    const place = { item_id: open.id, output_index: this.items.length - 1 };
    return [...this.#done(open, place), { type: "response.output_item.done", output_index: place.output_index, item }];
  }

  #enter(kind: ItemKind, head: JsonObject): readonly EventData[] {
    return this.#open?.kind === kind ? [] : [...this.close(), ...this.#start(kind, head)];
  }

  #start(kind: ItemKind, head: JsonObject): readonly EventData[] {
    const { at, index } = this.#answer.request;
    const open = { kind, id: `${PREFIXES[kind]}_${at.toString(36)}_${index}_${this.items.length}`, head, text: "" };
    this.#open = open;
    const place = { item_id: open.id, output_index: this.items.length };
    const added: EventData = {
      type: "response.output_item.added",
      output_index: place.output_index,
      item: this.#itemOf(open, "in_progress"),
    };
    if (kind === "message") {
      return [added, { type: "response.content_part.added", ...place, content_index: 0, part: this.#contentOf("") }];
    }
    if (kind !== "reasoning") return [added];
    const part = { type: "summary_text", text: "" };
    return [added, { type: "response.reasoning_summary_part.added", ...place, summary_index: 0, part }];
  }

  #grow(delta: string): readonly EventData[] {
    const open = this.#open;
    if (open === undefined) return [];
    open.text += delta;
    const place = { item_id: open.id, output_index: this.items.length };
    switch (open.kind) {
      case "reasoning":
        return [{ type: "response.reasoning_summary_text.delta", ...place, summary_index: 0, delta }];
      case "message":
        return this.#isRefusal
          ? [{ type: "response.refusal.delta", ...place, content_index: 0, delta }]
          : [{ type: "response.output_text.delta", ...place, content_index: 0, delta, logprobs: [] }];
      case "function_call":
        return [{ type: "response.function_call_arguments.delta", ...place, delta }];
      case "custom_tool_call":
        return [{ type: "response.custom_tool_call_input.delta", ...place, delta }];
    }
  }

  #done({ kind, head, text }: OpenItem, place: JsonObject): readonly EventData[] {
    switch (kind) {
      case "reasoning": {
        const at = { ...place, summary_index: 0 };
        return [
          { type: "response.reasoning_summary_text.done", ...at, text },
          { type: "response.reasoning_summary_part.done", ...at, part: { type: "summary_text", text } },
        ];
      }
      case "message": {
        const at = { ...place, content_index: 0 };
        const whole: EventData = this.#isRefusal
          ? { type: "response.refusal.done", ...at, refusal: text }
          : { type: "response.output_text.done", ...at, text, logprobs: [] };
        return [whole, { type: "response.content_part.done", ...at, part: this.#contentOf(text) }];
      }
      case "function_call":
        return [{ type: "response.function_call_arguments.done", ...place, name: head["name"], arguments: text }];
      case "custom_tool_call":
        return [{ type: "response.custom_tool_call_input.done", ...place, input: text }];
    }
  }

  #contentOf(text: string): JsonObject {
    return this.#isRefusal
      ? { type: "refusal", refusal: text }
      : { type: "output_text", text, annotations: [], logprobs: [] };
  }

  #itemOf({ kind, id, head, text }: OpenItem, status: "in_progress" | "completed"): JsonObject {
    const isDone = status === "completed";
    switch (kind) {
      case "reasoning":
        return { id, type: kind, summary: isDone ? [{ type: "summary_text", text }] : [], encrypted_content: null };
      case "message":
        return { id, type: kind, status, ...head, content: isDone ? [this.#contentOf(text)] : [] };
      case "function_call":
        return { id, type: kind, status, ...head, arguments: text };
      case "custom_tool_call":
        return { id, type: kind, status, ...head, input: text };
    }
  }
}

/** All items of an answer at once. */
export const itemsOf = (answer: Answer): readonly JsonObject[] => {
  const output = new ResponseOutput(answer);
  for (const part of answer.parts) output.part(part);
  output.close();
  return output.items;
};

/** The items with which an earlier request was answered. */
export const outputOf = (request: ModelRequest): readonly JsonObject[] =>
  request.reply === undefined
    ? []
    : itemsOf({ request, reply: request.reply, parts: partsOf(request.reply, request.index) });
