import { steering } from "../dist/index.js";
import type { steeringWith as withClock } from "../src/steering.js";

export { steering };

/** At run time the two are one: what was built takes a clock too, though it does not say so. */
export const steeringWith = steering as typeof withClock;
