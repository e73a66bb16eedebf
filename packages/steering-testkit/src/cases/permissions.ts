interface PermissionOption {
  readonly optionId: string;
  readonly kind?: string;
}

/** The answer to a permission request. */
export type PermissionAnswer = {
  readonly outcome: { readonly outcome: "cancelled" } | { readonly outcome: "selected"; readonly optionId: string };
};

const optionsOf = (params: unknown): readonly PermissionOption[] =>
  (params as { readonly options?: readonly PermissionOption[] }).options ?? [];

const select = (params: unknown, ...kinds: readonly string[]): PermissionAnswer => {
  const options = optionsOf(params);
  const option = kinds.map((kind) => options.find((other) => other.kind === kind)).find((found) => found !== undefined);
  return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
};

/** Allows, if possible this once: an agent that may do it always does not ask again. */
export const allowOnce = (params: unknown): PermissionAnswer => select(params, "allow_once", "allow_always");

/** Rejects, if possible this once. */
export const rejectOnce = (params: unknown): PermissionAnswer => select(params, "reject_once", "reject_always");
