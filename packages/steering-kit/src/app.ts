import type {
  AgentApp,
  InitializeResponse,
  PromptRequest,
  SessionCapabilities,
  SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { agent, methods, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk/unstable";
import { Outbox } from "./outbox.js";
import type { ConnectionSessions } from "./session-registry.js";
import { announce, setConfigOption, setMode, settingsOf } from "./session-settings.js";
import type { Vendor } from "./vendor.js";
import { CODES, toRequestError } from "./vendor-error.js";

/** The ACP agent of one connection: every method that the vendor has, and no other. */
export function buildApp(vendor: Vendor, sessions: ConnectionSessions): AgentApp {
  const guarded = guard(vendor);
  let showsForms = false;
  const app = agent({ name: vendor.name })
    .onRequest(methods.agent.initialize, ({ params }) => {
      showsForms = Boolean(params.clientCapabilities?.elicitation?.form);
      return guarded(() => initializeResponse(vendor));
    })
    .onRequest(methods.agent.session.new, ({ params, client }) =>
      guarded(async () => {
        const session = sessions.add(await vendor.open(params));
        announce(session, client);
        return { sessionId: session.id, ...settingsOf(session) };
      }),
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
      const session = sessions.get(params.sessionId);
      return guarded(() => setConfigOption(session, params));
    })
    .onRequest(methods.agent.session.setMode, ({ params }) => {
      const session = sessions.get(params.sessionId);
      return guarded(async () => {
        await setMode(session, params);
        return {};
      });
    })
    .onRequest(methods.agent.session.prompt, (context) => {
      const session = sessions.get(context.params.sessionId);
      assertSupported(context.params.prompt, vendor);
      return guarded(() => session.prompt({ ...context, showsForms }));
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.find(params.sessionId)?.interrupt())
    .onRequest(methods.agent.session.close, async ({ params }) => {
      sessions.get(params.sessionId);
      await guarded(() => sessions.close(params.sessionId));
      return {};
    });
  addOptionalMethods(app, vendor, sessions);
  return app;
}

function addOptionalMethods(app: AgentApp, vendor: Vendor, sessions: ConnectionSessions): void {
  const guarded = guard(vendor);
  const { load, resume, fork, list, authenticate } = bound(vendor);
  addEndings(app, vendor, sessions);
  if (load) {
    app.onRequest(methods.agent.session.load, ({ params, client }) =>
      guarded(async () => {
        const outbox = new Outbox(client, params.sessionId);
        const session = sessions.add(await load(params, (update: SessionUpdate) => outbox.update(update)));
        await outbox.flushed();
        announce(session, client);
        return settingsOf(session);
      }),
    );
  }
  if (resume) {
    app.onRequest(methods.agent.session.resume, ({ params, client }) =>
      guarded(async () => {
        const session = sessions.add(await resume(params));
        announce(session, client);
        return settingsOf(session);
      }),
    );
  }
  if (fork) {
    app.onRequest(methods.agent.session.fork, ({ params, client }) =>
      guarded(async () => {
        const session = sessions.add(await fork(params));
        announce(session, client);
        return { sessionId: session.id, ...settingsOf(session) };
      }),
    );
  }
  if (list) app.onRequest(methods.agent.session.list, ({ params }) => guarded(() => list(params)));
  if (authenticate) {
    app.onRequest(methods.agent.authenticate, ({ params }) =>
      guarded(async () => {
        await authenticate(params);
        return {};
      }),
    );
  }
}

function addEndings(app: AgentApp, vendor: Vendor, sessions: ConnectionSessions): void {
  const guarded = guard(vendor);
  if (vendor.delete) {
    app.onRequest(methods.agent.session.delete, ({ params }) =>
      guarded(async () => {
        await sessions.close(params.sessionId);
        await vendor.delete?.(params);
        return {};
      }),
    );
  }
  if (vendor.logout) {
    app.onRequest(methods.agent.logout, () =>
      guarded(async () => {
        await vendor.logout?.();
        return {};
      }),
    );
  }
}

function bound(vendor: Vendor): Pick<Vendor, "load" | "resume" | "fork" | "list" | "authenticate"> {
  return {
    ...(vendor.load && { load: vendor.load.bind(vendor) }),
    ...(vendor.resume && { resume: vendor.resume.bind(vendor) }),
    ...(vendor.fork && { fork: vendor.fork.bind(vendor) }),
    ...(vendor.list && { list: vendor.list.bind(vendor) }),
    ...(vendor.authenticate && { authenticate: vendor.authenticate.bind(vendor) }),
  };
}

/** Content that the vendor did not advertise would be lost on the way to it without a word. */
function assertSupported(prompt: PromptRequest["prompt"], vendor: Vendor): void {
  const { image, audio, embeddedContext } = vendor.promptCapabilities ?? {};
  const takes: Readonly<Record<string, boolean | undefined>> = { image, audio, resource: embeddedContext };
  const foreign = prompt.findIndex(({ type }) => type in takes && takes[type] !== true);
  const block = prompt[foreign];
  if (!block) return;
  throw new RequestError(CODES.invalidParams, `${vendor.title ?? vendor.name} takes no ${block.type} in a prompt.`, {
    path: `prompt[${foreign}]`,
    reason: "unsupportedContent",
  });
}

async function initializeResponse(vendor: Vendor): Promise<InitializeResponse> {
  const { authMethods = [] } = vendor;
  const sessionCapabilities: SessionCapabilities = {
    close: {},
    ...(vendor.resume && { resume: {} }),
    ...(vendor.fork && { fork: {} }),
    ...(vendor.list && { list: {} }),
    ...(vendor.delete && { delete: {} }),
    ...(vendor.additionalDirectories && { additionalDirectories: {} }),
  };
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: vendor.name, title: vendor.title ?? null, version: vendor.version },
    agentCapabilities: {
      loadSession: vendor.load !== undefined,
      promptCapabilities: vendor.promptCapabilities ?? {},
      sessionCapabilities,
      ...(vendor.mcpCapabilities && { mcpCapabilities: vendor.mcpCapabilities }),
      ...(vendor.logout && { auth: { logout: {} } }),
    },
    authMethods: [...(typeof authMethods === "function" ? await authMethods() : authMethods)],
  };
}

function guard(vendor: Vendor): <Result>(task: () => Promise<Result>) => Promise<Result> {
  return async (task) => {
    try {
      return await task();
    } catch (error) {
      throw toRequestError(error, vendor.title ?? vendor.name);
    }
  };
}
