import { Bare, type BareConnection } from "../support/bare.js";
import { textBlock, textsOf } from "../support/rig.js";

/** A turn that is played without any await, so that what meets, meets in exactly the order in which it is written. */
interface BareTurn {
  readonly bare: Bare;
  readonly connection: BareConnection;
  /** The prompts that reached the agent, in order. */
  readonly runs: { readonly id: unknown; readonly texts: string[] }[];
  prompt(id: number, text: string): void;
  steer(id: number, text: string, steering?: object): void;
  answers(id: number): object[];
}

/** Session `s`, with the prompt `2`, "go", at the agent. */
export function bareTurn(): BareTurn {
  const bare = new Bare();
  const connection = bare.connect();
  const paramsOf = (text: string): object => ({ sessionId: "s", prompt: [textBlock(text)] });
  const turn: BareTurn = {
    bare,
    connection,
    get runs() {
      return connection.toAgent
        .filter(({ method }) => method === "session/prompt")
        .map(({ id, params }) => ({ id, texts: textsOf(params as Record<string, unknown>) }));
    },
    prompt: (id, text) => connection.ask(id, "session/prompt", paramsOf(text)),
    steer: (id, text, steering = {}) =>
      connection.ask(id, "_session/steering", { ...paramsOf(text), _meta: { steering } }),
    answers: (id) => connection.toClient.filter((message) => message.id === id),
  };
  connection.ask(1, "session/new", {});
  connection.reply(1, { sessionId: "s" });
  turn.prompt(2, "go");
  return turn;
}
