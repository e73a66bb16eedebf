import type { ModelServer } from "@acp-steering/testkit/model-server";

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly role?: string;
      readonly content?: string;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function: { readonly name?: string; readonly arguments: string };
      }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Readonly<Record<string, number>>;
}

export const say = (text: string): object => ({ role: "user", content: text });

export const body = (fields: object = {}): object => ({
  model: "m",
  stream: true,
  messages: [say("hello")],
  ...fields,
});

export const post = (
  { url }: Pick<ModelServer, "url">,
  payload: unknown = body(),
  options: RequestInit = {},
): Promise<Response> =>
  fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof payload === "string" ? payload : JSON.stringify(payload),
    ...options,
  });

const dataLines = (text: string): readonly string[] =>
  text.split("\n\n").flatMap((event) => (event.startsWith("data: ") ? [event.slice("data: ".length)] : []));

export const chunksIn = (text: string): readonly Chunk[] =>
  dataLines(text)
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data) as Chunk);

export const endsWithDone = (text: string): boolean => dataLines(text).at(-1) === "[DONE]";

export const finishReason = (chunks: readonly Chunk[]): string | null | undefined =>
  chunks.map((chunk) => chunk.choices[0]?.finish_reason).findLast((reason) => reason !== null && reason !== undefined);

export const textDeltas = (chunks: readonly Chunk[]): readonly string[] =>
  chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => (delta.content ? [delta.content] : [])));

export const reasoningDeltas = (chunks: readonly Chunk[]): readonly string[] =>
  chunks.flatMap(({ choices }) =>
    choices.flatMap(({ delta }) => (delta.reasoning_content ? [delta.reasoning_content] : [])),
  );

export const toolDeltas = (chunks: readonly Chunk[]) =>
  chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));

/** Reads what has come so far, up to and including the text; leaves the rest to be read on. */
export class PartialReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  text = "";

  constructor(response: Response) {
    if (response.body === null) throw new Error("The response has no body");
    this.#reader = response.body.getReader();
  }

  async until(text: string): Promise<string> {
    while (!this.text.includes(text) && (await this.#more()));
    return this.text;
  }

  async rest(): Promise<string> {
    while (await this.#more());
    return this.text;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (value !== undefined) this.text += this.#decoder.decode(value, { stream: true });
    return !done;
  }
}
