import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Vendor } from "@acp-steering/kit";
import { steeringAgent } from "@acp-steering/kit";
import { conformance, type MakeRig, StepQueue } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import { agentSdkConversation, type KimiConversation, KimiTurns, sdkConversation } from "../src/index.js";
import type { StandInEngine } from "./stand-in-engine.js";
import { standInAgentSession, standInSdkSession } from "./stand-ins.js";

const supports = { content: ["text", "image", "resource_link", "resource"], boundary: "nextStep" } as const;

/** An application that has Kimi in its own process: a conversation for each session, nothing else of this package. */
function rigOver(open: (cwd: string) => { engine: StandInEngine; conversation: KimiConversation }): MakeRig {
  return () => {
    const cwd = mkdtempSync(join(tmpdir(), "acp-steering-kimi-"));
    const engines: StandInEngine[] = [];
    const behind = new StepQueue();
    const vendor: Vendor = {
      name: "kimi-in-process",
      version: "1.0.0",
      supports,
      promptCapabilities: { image: true, embeddedContext: true },
      open: async () => {
        const { engine, conversation } = open(cwd);
        engine.behind.add = (step) => behind.add(step);
        engines.push(engine);
        const turns = new KimiTurns({ cwd });
        return {
          id: crypto.randomUUID(),
          prompt: (turn) => turns.prompt(turn, () => ({ conversation })),
          steer: (message) => turns.steer(message),
          interrupt: () => turns.interrupt(),
          close: async () => turns.interrupt(),
        };
      },
    };
    return {
      agent: steeringAgent(vendor),
      supports,
      behind,
      cwd,
      activity: () => engines.reduce((sum, { activity }) => sum + activity, 0),
      close: async () => rmSync(cwd, { recursive: true, force: true }),
    };
  };
}

describe("over a session of the node SDK", () => {
  conformance(
    { describe, it, expect },
    rigOver((cwd) => {
      const { engine, session } = standInSdkSession(cwd);
      return { engine, conversation: sdkConversation(session) };
    }),
  );
});

describe("over a turn of the agent SDK", () => {
  conformance(
    { describe, it, expect },
    rigOver((cwd) => {
      const { engine, session } = standInAgentSession(cwd);
      return { engine, conversation: agentSdkConversation(session) };
    }),
  );
});
