import type { Traits } from "./hub.js";
import { objectAt } from "./parse.js";
import type { ContentType, JsonObject, SteeringAdvertisement } from "./protocol.js";

/** What the layer says of itself in the agent's answer to `initialize` (spec §2). */
export const advertisement = (result: JsonObject, { driver, inbox, idleBehavior }: Traits): SteeringAdvertisement => {
  const { image, audio, embeddedContext } = objectAt(result, "agentCapabilities", "promptCapabilities");
  const optional = [image && "image", audio && "audio", embeddedContext && "resource"];
  const taken = ["text", "resource_link", ...optional, ...(driver?.supports.content ?? [])];
  return {
    supported: true,
    version: 1,
    idlePromptRequired: true,
    idleBehavior,
    delivery: driver?.supports.delivery ?? "confirmed",
    emulated: !driver && !inbox,
    receipts: true,
    revoke: true,
    content: [...new Set(taken.filter(Boolean) as ContentType[])],
  };
};
