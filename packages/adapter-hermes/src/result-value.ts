/** The JSON value of a tool's result; some tools put a hint for the model behind it. `undefined` where it is none. */
export function resultValue(result: string): unknown {
  const hint = result.indexOf("\n\n[");
  for (const text of hint === -1 ? [result] : [result, result.slice(0, hint)]) {
    try {
      return JSON.parse(text);
    } catch {
      // Plain text, or JSON with something behind it.
    }
  }
  return undefined;
}
