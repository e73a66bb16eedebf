import { prove } from "./stand-ins/prove.js";

const UNANSWERED = "nothing answers the notification: whether it came before the run's end is not known";

prove("hermes", "auto");
prove("concurrent", "prompt");
prove("opencrabs", "native", {
  optOut: { "G1.running": UNANSWERED, "G1.boundary": UNANSWERED, "command.steer": UNANSWERED },
});
