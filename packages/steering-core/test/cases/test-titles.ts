import ts from "typescript";

const SEPARATOR = " › ";
const CALLS: readonly string[] = ["describe", "it", "test"];

/** What a call such as `it(…)`, `it.each(…)(…)` or `describe.each(…)(…)` begins with. */
function rootOf(expression: ts.Expression): string | undefined {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression))
    return rootOf(expression.expression);
  return undefined;
}

const textOf = (node: ts.Node | undefined): string | undefined =>
  node && ts.isStringLiteralLike(node) ? node.text : undefined;

/** The title that a node gives to what is inside it, and whether it is a test or a predicate itself. */
function titleOf(node: ts.Node): { readonly title: string; readonly isLeaf: boolean } | undefined {
  const isPredicate = ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) && node.name.text === "says";
  const root = ts.isCallExpression(node) ? rootOf(node.expression) : undefined;
  if (!isPredicate && !(root && CALLS.includes(root))) return undefined;
  const title = textOf(ts.isCallExpression(node) ? node.arguments[0] : (node as ts.PropertyAssignment).initializer);
  return title === undefined ? undefined : { title, isLeaf: root !== "describe" };
}

/**
 * The full titles of the tests in a file, and what its predicates say, as they are written: `%s` stands for what
 * `it.each` puts in.
 *
 * @example
 * titlesIn('describe("a", () => { it.each([1])("b %i", () => {}); });'); // ["a › b %i"]
 */
export function titlesIn(source: string): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node, outer: readonly string[]): void => {
    const named = titleOf(node);
    const inner = named ? [...outer, named.title] : outer;
    if (named?.isLeaf) titles.push(inner.join(SEPARATOR));
    node.forEachChild((child) => visit(child, inner));
  };
  visit(ts.createSourceFile("tests.ts", source, ts.ScriptTarget.Latest), []);
  return titles;
}
