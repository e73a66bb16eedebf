import { prove } from "./stand-ins/prove.js";

// They take text alone.
prove("kimchi", "auto");
prove("kiro", "native");
prove("minimax", "auto");
