import type {
  AgentApp,
  AgentContext,
  InitializeResponse,
  PromptRequest,
  PromptResponse,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk/unstable";
import { agent, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk/unstable";
import type { ChatMessage } from "./chat-message.js";
import type { AskModel } from "./chat-model.js";
import { Conversations } from "./conversation.js";
import { Run } from "./run.js";

const INITIALIZED: InitializeResponse = {
  protocolVersion: PROTOCOL_VERSION,
  agentInfo: { name: "reference-agent", title: "Reference agent", version: "1.0.0" },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, embeddedContext: true },
    sessionCapabilities: { close: {}, list: {} },
  },
};

/** The loop of an agent: works at a prompt until it is done with it. */
export type Loop = (run: Run, prompt: PromptRequest["prompt"]) => Promise<StopReason>;

/** What both reference agents have in common: everything of ACP but the loop. It knows nothing of steering. */
export function agentApp(askModel: AskModel, loop: Loop): AgentApp {
  const conversations = new Conversations();

  const answerPrompt = async (
    params: PromptRequest,
    client: AgentContext,
    signal: AbortSignal,
  ): Promise<PromptResponse> => {
    const conversation = conversations.open(params.sessionId);
    return conversation.run(async (abort) => {
      signal.addEventListener("abort", () => abort.abort(), { once: true });
      try {
        const run = new Run({ conversation, askModel, client, abort });
        return { stopReason: await loop(run, params.prompt) };
      } catch (error) {
        if (abort.signal.aborted) return { stopReason: "cancelled" };
        throw error;
      }
    });
  };

  return agent({ name: "reference-agent" })
    .onRequest(methods.agent.initialize, () => INITIALIZED)
    .onRequest(methods.agent.session.new, ({ params }) => ({ sessionId: conversations.begin(params.cwd).id }))
    .onRequest(methods.agent.session.load, async ({ params: { sessionId }, client }) => {
      const conversation = conversations.any(sessionId);
      conversation.isOpen = true;
      for (const update of conversation.messages.flatMap(asUpdates)) {
        await client.notify(methods.client.session.update, { sessionId, update });
      }
      return {};
    })
    .onRequest(methods.agent.session.list, () => ({
      sessions: conversations.all().map(({ id, cwd }) => ({ sessionId: id, cwd })),
    }))
    .onRequest(methods.agent.session.prompt, ({ params, client, signal }) => answerPrompt(params, client, signal))
    .onNotification(methods.agent.session.cancel, ({ params }) => conversations.any(params.sessionId).cancel())
    .onRequest(methods.agent.session.close, async ({ params }) => {
      await conversations.open(params.sessionId).close();
      return {};
    });
}

/** How a client that loads a session is shown what was said in it. */
function asUpdates(message: ChatMessage): SessionUpdate[] {
  if (message.role === "tool") return [];
  const texts =
    message.role === "assistant"
      ? [message.content]
      : message.content.map((part) => (part.type === "text" ? part.text : "(an image)"));
  const sessionUpdate = message.role === "assistant" ? "agent_message_chunk" : "user_message_chunk";
  return texts.filter((text) => text !== "").map((text) => ({ sessionUpdate, content: { type: "text", text } }));
}
