import { prove } from "./stand-ins/prove.js";
import { UNANSWERED } from "./stand-ins/unanswered.js";

prove("hermes", "auto");
prove("concurrent", "prompt");
prove("opencrabs", "native", { optOut: UNANSWERED });
