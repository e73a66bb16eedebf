// @ts-nocheck: it plays a peer on the wire, whose messages have no types.
// The model of a stand-in: chat completions, streamed.

const SHELL = {
  type: "function",
  function: { name: "shell", parameters: { type: "object", properties: { command: { type: "string" } } } },
};

/** Asks once; `onText` gets what the model says, piece by piece. */
export async function askModel(messages, signal, onText) {
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "any", stream: true, messages, tools: [SHELL] }),
    signal,
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}`);
  const message = { role: "assistant", content: "" };
  for await (const { delta } of choicesOf(response.body)) {
    if (delta?.content) onText(delta.content);
    message.content += delta?.content ?? "";
    for (const call of delta?.tool_calls ?? []) grow(message, call);
  }
  return message;
}

async function* choicesOf(body) {
  const decoder = new TextDecoder();
  let unfinished = "";
  for await (const bytes of body) {
    const lines = (unfinished + decoder.decode(bytes, { stream: true })).split("\n");
    unfinished = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const { choices = [], error } = JSON.parse(line.slice("data: ".length));
      if (error) throw new Error(error.message);
      yield* choices;
    }
  }
}

function grow(message, { index, id, function: part }) {
  message.tool_calls ??= [];
  message.tool_calls[index] ??= { id: "", type: "function", function: { name: "", arguments: "" } };
  const call = message.tool_calls[index];
  call.id ||= id ?? "";
  call.function.name ||= part?.name ?? "";
  call.function.arguments += part?.arguments ?? "";
}

/** What a user said, as the model is given it. */
export const userMessage = (prompt) => ({
  role: "user",
  content: prompt.map((block) => {
    if (block.type === "image")
      return { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } };
    return { type: "text", text: block.text ?? block.uri ?? block.resource?.text ?? "" };
  }),
});
