import type { WireMessage } from "@acp-steering/core";
import { stringify } from "./stringify.js";

/** What a line says: a message, a list that may be messages, nothing, or something else. */
export type Read =
  | { readonly kind: "message"; readonly message: WireMessage }
  | { readonly kind: "batch" | "other" | "blank" };

export function readLine(line: Buffer): Read {
  const text = line.toString("utf8");
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return { kind: "batch" };
    if (typeof value === "object" && value !== null) return { kind: "message", message: value as WireMessage };
  } catch {
    if (text.trim() === "") return { kind: "blank" };
  }
  return { kind: "other" };
}

/** A line as it was read, and the message that stood in it. */
interface Original {
  readonly message: WireMessage;
  readonly line: Buffer;
}

/**
 * The lines of messages that are on their way, so that what nobody changed goes on byte for byte: the order of its members,
 * its numbers beyond 2^53, and all.
 *
 * The layer hands most messages on as the very objects that they were read into. A prompt and its answer it takes apart
 * and puts together again, of the same parts: those are found by a part.
 */
export class Originals {
  readonly #originals = new WeakMap<object, Original>();

  remember(message: WireMessage, line: Buffer): void {
    const original = { message, line };
    this.#originals.set(message, original);
    const part = partOf(message);
    if (part) this.#originals.set(part, original);
  }

  /** A message that stands for a line that is none, and goes on all the same: the layer passes on what is no object. */
  standIn(line: Buffer): WireMessage {
    const message = [] as unknown as WireMessage;
    this.#originals.set(message, { message, line });
    return message;
  }

  /** The line of a message, as it was read or, where it is another one now, written anew. Without an LF. */
  lineOf(message: WireMessage): Buffer {
    const known = this.#originals.get(message) ?? this.#ofPart(message);
    return known?.line ?? Buffer.from(stringify(message));
  }

  #ofPart(message: WireMessage): Original | undefined {
    const part = partOf(message);
    const original = part && this.#originals.get(part);
    return original && saysTheSame(original.message, message) ? original : undefined;
  }
}

function partOf({ params, result, error }: WireMessage): object | undefined {
  const part = result ?? error ?? membersOf(params)["prompt"];
  return typeof part === "object" && part !== null ? part : undefined;
}

function saysTheSame(one: WireMessage, other: WireMessage): boolean {
  const { id, method, result, error } = one;
  if (id !== other.id || method !== other.method || result !== other.result || error !== other.error) return false;
  const [params, others] = [membersOf(one.params), membersOf(other.params)];
  const names = Object.keys(params);
  return names.length === Object.keys(others).length && names.every((name) => params[name] === others[name]);
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
