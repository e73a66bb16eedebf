import { CODE } from "@acp-steering/core/protocol";
import { VendorError } from "@acp-steering/kit";
import { type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { SignIn } from "../dialect.js";
import { meetClaude } from "./claude-meeting.js";

/** Claude Code keeps its own account; signing in takes a browser, so the user does it in a terminal. */
export const claudeSignIn: SignIn = {
  methods: [
    {
      id: "claude-login",
      name: "claude auth login",
      description: "Run `claude auth login` in a terminal, then sign in here",
    },
  ],
  authenticate: async (_request, agent) => {
    const { account } = await meetClaude(agent);
    if (!isSignedIn(recordOf(account))) throw notSignedIn();
  },
};

/** With a key, a token, or the account of a cloud. */
function isSignedIn({ tokenSource, apiKeySource, apiProvider }: JsonRecord): boolean {
  const sources = [tokenSource, apiKeySource].map(textOf);
  return sources.some((source) => source !== "" && source !== "none") || apiProvider !== "firstParty";
}

function notSignedIn(): VendorError {
  return new VendorError("Claude Code is not signed in. Run `claude auth login` in a terminal, then try again.", {
    code: CODE.authRequired,
    data: { reason: "notSignedIn" },
  });
}
