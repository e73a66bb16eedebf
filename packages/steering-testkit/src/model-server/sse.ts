import type { JsonObject } from "./json.js";

/** What an event of Responses and Messages carries; its type is also the event's name. */
export type EventData = JsonObject & { readonly type: string };

/** One server-sent event with a name. */
export const namedEvent = (data: EventData): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const DATA = "data: ";

/** The first of these events with half of its data, which then is no JSON. */
export const malformedLike = (events: string): string => {
  const [event = ""] = events.split("\n\n");
  const start = event.indexOf(DATA) + DATA.length;
  return `${event.slice(0, start + Math.floor((event.length - start) / 2))}\n\n`;
};
