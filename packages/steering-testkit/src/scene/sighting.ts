import type { ModelRequest } from "../model-server/index.js";
import type { SightingFacts } from "./scene-event.js";
import { mentions } from "./story.js";

/** Where a text of the user shows up in the model's requests; each request carries the whole history again. */
export function sightingOf(requests: readonly ModelRequest[], text: string): SightingFacts {
  const counts = requests.map(({ messages }) => messages.filter(mentions(text)).length);
  const userMessages = Math.max(0, ...counts);
  const first = counts.findIndex((count) => count > 0);
  if (first < 0) return { userMessages, newest: false };
  return { request: first + 1, userMessages, newest: isNewest(requests, first, text) };
}

function isNewest(requests: readonly ModelRequest[], index: number, text: string): boolean {
  const position = requests[index]?.messages.findIndex(mentions(text)) ?? -1;
  const known = requests[index - 1]?.messages.length ?? 0;
  return position >= known;
}
