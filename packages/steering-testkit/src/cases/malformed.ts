/** Params of a steer that must be refused. */
export interface MalformedSteer {
  readonly name: string;
  readonly params: unknown;
  /** The first bad field, as `data.path` names it. */
  readonly path: string;
}

type Fields = Readonly<Record<string, unknown>>;

const DEEPER_THAN_ALLOWED = 300;

function nested(levels: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level += 1) value = { deeper: value };
  return value;
}

/** Every way in which the params of a steer can have the wrong shape; each carries the text where it has a place for it. */
export function malformedSteers(sessionId: string, text: string): readonly MalformedSteer[] {
  const prompt = [{ type: "text", text }];
  const wrong = (name: string, path: string, fields: Fields): MalformedSteer => ({
    name,
    path,
    params: { sessionId, prompt, ...fields },
  });
  const wrongBlock = (name: string, path: string, block: unknown): MalformedSteer =>
    wrong(name, `prompt[1]${path}`, { prompt: [...prompt, block] });
  return [
    { name: "no params", path: "", params: undefined },
    { name: "params null", path: "", params: null },
    { name: "params an array", path: "", params: [{ sessionId, prompt }] },
    { name: "no sessionId", path: "sessionId", params: { prompt } },
    wrong("sessionId empty", "sessionId", { sessionId: "" }),
    wrong("sessionId a number", "sessionId", { sessionId: 7 }),
    { name: "no prompt", path: "prompt", params: { sessionId } },
    wrong("prompt empty", "prompt", { prompt: [] }),
    wrong("prompt a string", "prompt", { prompt: text }),
    wrong("prompt an object", "prompt", { prompt: { type: "text", text } }),
    wrong("prompt [null]", "prompt[0]", { prompt: [null] }),
    wrong("prompt of strings", "prompt[0]", { prompt: [text] }),
    wrong("prompt [{}]", "prompt[0].type", { prompt: [{}] }),
    wrongBlock("a block of an unknown type", ".type", { type: "hologram", text }),
    wrongBlock("a text block without text", ".text", { type: "text" }),
    wrongBlock("a text block with a number", ".text", { type: "text", text: 7 }),
    wrongBlock("a text block with null", ".text", { type: "text", text: null }),
    wrongBlock("an image without data", ".data", { type: "image", mimeType: "image/png" }),
    wrongBlock("a resource_link without uri", ".uri", { type: "resource_link", name: text }),
    wrongBlock("a resource without its resource", ".resource", { type: "resource" }),
    wrong("_meta a string", "_meta", { _meta: "steering" }),
    wrong("_meta an array", "_meta", { _meta: ["steering"] }),
    wrong("_meta a number", "_meta", { _meta: 7 }),
    wrong("_meta.steering a string", "_meta.steering", { _meta: { steering: "yes" } }),
    wrong("_meta.steering an array", "_meta.steering", { _meta: { steering: [] } }),
    wrong("_meta.steering a number", "_meta.steering", { _meta: { steering: 7 } }),
    wrong("an unknown idleBehavior", "_meta.steering.idleBehavior", { _meta: { steering: { idleBehavior: "shrug" } } }),
    wrong("300 levels deep", "", { _meta: { other: nested(DEEPER_THAN_ALLOWED) } }),
  ];
}
