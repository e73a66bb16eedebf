import type { ModelRequest } from "./request.js";

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;

/** What came with the request beyond the history: everything after the last message of the model. */
const newText = ({ messages }: ModelRequest): string =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)
    .filter(({ role }) => role === "user" || role === "tool")
    .map(({ role, text }) => ` ${role}: ${JSON.stringify(text)}`)
    .join("");

/** One line on a request; quoted where a client chose the words, so that it stays one line. */
export const requestLine = (request: ModelRequest, withContent: boolean): string => {
  const images = request.messages.reduce((sum, message) => sum + message.images, 0);
  const facts = [
    request.dialect,
    `model ${JSON.stringify(request.model)}`,
    request.stream ? "streamed" : "not streamed",
    count(request.messages.length, "message"),
    ...(images > 0 ? [count(images, "image")] : []),
  ];
  return `request ${request.index}: ${facts.join(", ")}${withContent ? newText(request) : ""}`;
};

export const refusalLine = (status: number, method: string, path: string, reason: string): string =>
  `refused with ${status}: ${method} ${JSON.stringify(path)} (${reason})`;

export const sideLine = (method: string, path: string): string => `answered: ${method} ${JSON.stringify(path)}`;
