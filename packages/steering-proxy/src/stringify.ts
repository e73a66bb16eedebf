/** What is still to be written: a value, or a piece of JSON. */
type Rest = { readonly value: unknown } | { readonly text: string };

/** `JSON.stringify` of what JSON can say, however deeply it nests: what was read can be written again. */
export function stringify(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return stringifyDeep(value);
    throw error;
  }
}

function stringifyDeep(value: unknown): string {
  const texts: string[] = [];
  const rest: Rest[] = [{ value }];
  for (let next = rest.pop(); next; next = rest.pop()) {
    if ("text" in next) texts.push(next.text);
    else if (typeof next.value === "object" && next.value !== null) rest.push(...partsOf(next.value).reverse());
    else texts.push(JSON.stringify(next.value) ?? "null");
  }
  return texts.join("");
}

function partsOf(value: object): Rest[] {
  const isList = Array.isArray(value);
  const members = Object.entries(value).filter(([, member]) => isList || member !== undefined);
  const parts = members.flatMap(([name, member], index): Rest[] => [
    { text: `${index > 0 ? "," : ""}${isList ? "" : `${JSON.stringify(name)}:`}` },
    { value: member },
  ]);
  return [{ text: isList ? "[" : "{" }, ...parts, { text: isList ? "]" : "}" }];
}
