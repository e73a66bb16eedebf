/**
 * Installs a real vendor when it is first needed, and again when its lockfile changed. Progress goes to standard error.
 * Several processes may call it at once: one installs, the others wait.
 *
 * @returns the absolute path of its executable
 * @throws Error where npm failed, with what to do
 * @example
 * const pi = await ensureVendor("pi");
 */
export declare function ensureVendor(
  name: "pi" | "pi-next" | "claude-agent-acp" | "codex-acp" | "node24" | "kimi" | "verdaccio",
): Promise<string>;
