import { proveReal } from "./prove-real.js";
import { setUpCodex } from "./real-agents.js";

proveReal(setUpCodex, "auto", {
  // It happens in some of the runs, not in all.
  optOut: {
    "G7.turn": "a steer that it has taken when its model fails stays in the thread, and is shown with the next prompt",
  },
});
