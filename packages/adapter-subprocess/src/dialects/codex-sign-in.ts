import { CODE } from "@acp-steering/core/protocol";
import { VendorError } from "@acp-steering/kit";
import { isRecord } from "@acp-steering/kit/adapter";
import type { Agent, SignIn } from "../dialect.js";
import { ask } from "./codex-history.js";

/** Codex keeps its own account; signing in takes a browser or a key, so the user does it in a terminal. */
export const codexSignIn: SignIn = {
  methods: [
    { id: "codex-login", name: "codex login", description: "Run `codex login` in a terminal, then sign in here" },
  ],
  authenticate: async (_request, agent) => checkAccount(agent),
  logout: async (agent) => {
    await ask(agent, "account/logout", {});
  },
};

async function checkAccount(agent: Agent): Promise<void> {
  const { account, requiresOpenaiAuth } = await ask(agent, "account/read", {});
  if (isRecord(account) || requiresOpenaiAuth !== true) return;
  throw new VendorError("Codex is not signed in. Run `codex login` in a terminal, then try again.", {
    code: CODE.authRequired,
    data: { reason: "notSignedIn" },
  });
}
