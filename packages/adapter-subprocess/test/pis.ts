import { ensureVendor } from "../../../scripts/vendors.mjs";

/** A real Pi: the one of the old name, which runs on every Node.js that we support, or the one of the new name. */
export interface Pi {
  readonly name: string;
  /** Installs it when it is first needed. */
  command(): Promise<readonly [string, ...string[]]>;
  /** Whether Pi uses the steers that wait when its model has failed for good. */
  readonly goesOnAfterFailure: boolean;
}

export const PI_0_73: Pi = {
  name: "Pi 0.73",
  command: async () => [await ensureVendor("pi")],
  goesOnAfterFailure: false,
};

/** It needs a newer Node.js than the oldest that we support. */
export const PI_1_6: Pi = {
  name: "Pi 1.6",
  command: async () => [await ensureVendor("node24"), await ensureVendor("pi-next")],
  goesOnAfterFailure: true,
};

export const PIS: readonly Pi[] = [PI_0_73, PI_1_6];
