/** A command line that cannot be carried out; the message says why and what is right. */
export class UsageError extends Error {}
