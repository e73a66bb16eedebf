/** Finds the words by which cases find their texts again behind an agent. All are equally long: none is in another. */
export const MARK: RegExp = /mark-[0-9a-f]{12}/g;

/** A word that no other text contains. */
export const newMark = (): string => `mark-${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
