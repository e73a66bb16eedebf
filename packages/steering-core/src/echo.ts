/**
 * Which user messages of an agent repeat a steer. A client that asked for echoes is shown a delivered steer once: by the
 * layer, or by the agent that does it by itself, never by both (spec §2).
 */
import type { ContentBlock } from "./protocol.js";
import type { Steer } from "./state.js";

/** A steer of the open turn that was shown, or is being shown. */
export interface Echo {
  readonly messageId: string;
  /** Its blocks that the agent has not repeated. */
  readonly left: ContentBlock[];
  /** The agent began it; the layer shows it only where the agent's does not come. */
  readonly native: boolean;
}

/** What a block says, however an agent wrote it down again. */
const contentOf = (block: unknown): string =>
  JSON.stringify(block, ["type", "text", "data", "uri", "resource", "blob"]);

const same = (one: unknown, other: unknown): boolean => contentOf(one) === contentOf(other);

/** The echo that a user message of the agent belongs to; it begins one where the agent shows what it was just given. */
export const takeEcho = (echoes: Echo[], handedOver: readonly Steer[], content: unknown): Echo | undefined => {
  let echo = echoes.find(({ left }) => same(left[0], content));
  if (!echo) {
    const isNew = ({ messageId }: Steer): boolean => !echoes.some((known) => known.messageId === messageId);
    const shown = handedOver.find((steer) => isNew(steer) && same(steer.prompt[0], content));
    if (!shown) return undefined;
    echo = { messageId: shown.messageId, left: [...shown.prompt], native: true };
    echoes.push(echo);
  }
  echo.left.shift();
  return echo;
};
