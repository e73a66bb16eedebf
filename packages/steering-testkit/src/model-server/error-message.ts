import type { ReplyError } from "./reply.js";

/** The words of an error that says none. */
export const messageOf = ({ status, message }: ReplyError): string =>
  message ?? `The scripted model answers ${status}.`;
