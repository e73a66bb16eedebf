import { CODE, REASON } from "@acp-steering/core/protocol";
import type { AgentApp, PromptRequest, SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import { agent, methods } from "@agentclientprotocol/sdk/unstable";
import { introduction } from "./introduce.js";
import { Outbox } from "./outbox.js";
import { toRequestError } from "./request-error.js";
import type { ConnectionSessions } from "./session-registry.js";
import { announce, setConfigOption, setMode, settingsOf } from "./session-settings.js";
import type { Vendor } from "./vendor.js";
import { VendorError } from "./vendor-error.js";

/** The ACP agent of one connection: every method that the vendor has, and no other. */
export function buildApp(vendor: Vendor, sessions: ConnectionSessions): AgentApp {
  const guarded = guard(vendor);
  let showsForms = false;
  const app = agent({ name: vendor.name })
    .onRequest(methods.agent.initialize, ({ params }) => {
      showsForms = Boolean(params.clientCapabilities?.elicitation?.form);
      return introduction(vendor);
    })
    .onRequest(methods.agent.session.new, ({ params, client }) =>
      guarded(async () => {
        const session = sessions.add(await vendor.open(params));
        announce(session, client);
        return { sessionId: session.id, ...settingsOf(session) };
      }),
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
      guarded(async () => setConfigOption(sessions.get(params.sessionId), params)),
    )
    .onRequest(methods.agent.session.setMode, ({ params }) =>
      guarded(async () => {
        await setMode(sessions.get(params.sessionId), params);
        return {};
      }),
    )
    .onRequest(methods.agent.session.prompt, (context) =>
      guarded(async () => {
        const session = sessions.get(context.params.sessionId);
        assertSupported(context.params.prompt, vendor);
        return session.prompt({ ...context, showsForms });
      }),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.find(params.sessionId)?.interrupt())
    .onRequest(methods.agent.session.close, ({ params }) =>
      guarded(async () => {
        sessions.get(params.sessionId);
        await sessions.close(params.sessionId);
        return {};
      }),
    );
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
  throw new VendorError(`${vendor.title ?? vendor.name} takes no ${block.type} in a prompt.`, {
    code: CODE.invalidParams,
    data: { path: `prompt[${foreign}]`, reason: REASON.unsupportedContent },
  });
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
