import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Vendor } from "@acp-steering/kit";
import { steeringAgent } from "@acp-steering/kit";
import { conformance, modelServerRig } from "@acp-steering/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureVendor } from "../../../scripts/vendors.mjs";
import { kimiVendor } from "../src/kimi-vendor.js";
import { type ModelRelay, startModelRelay } from "./model-relay.js";
import { configureKimi } from "./stage.js";

/** One Kimi for all cases, since it takes seconds to start; each case has a model and a session of its own. */
let vendor: Vendor;
let relay: ModelRelay;
let home: string;

beforeAll(async () => {
  relay = await startModelRelay();
  home = await mkdtemp(join(tmpdir(), "acp-steering-kimi-"));
  await configureKimi(home, relay.url);
  vendor = kimiVendor({ kimi: await ensureVendor("kimi"), node: await ensureVendor("node24"), home });
});

afterAll(async () => {
  await vendor.dispose?.();
  await relay.close();
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

conformance(
  { describe, it, expect },
  modelServerRig({
    supports: { content: ["text", "image", "resource_link", "resource"], boundary: "nextStep" },
    start: ({ modelUrl }) => {
      relay.pointTo(modelUrl);
      return steeringAgent(vendor);
    },
  }),
);
