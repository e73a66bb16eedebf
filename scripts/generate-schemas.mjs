import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createGenerator } from "ts-json-schema-generator";
import { ROOT } from "./repository.mjs";

const CORE = join(ROOT, "packages", "steering-core");
const CONTRACT = join(ROOT, "docs", "contract.md");

/** Where the schemas of the wire are, as the package ships them. */
export const SCHEMA_FOLDER = join(CORE, "schema");

/** The types of `protocol.ts` that are a message, or our part of a message of ACP. */
const TYPES = [
  "ClientSteering",
  "ContinuationMeta",
  "Receipt",
  "RevokeRequest",
  "RevokeResult",
  "SteeringAdvertisement",
  "SteeringError",
  "SteeringRequest",
  "SteeringResult",
  "TurnReport",
];

/**
 * The JSON Schema of every message, from the types and their docstrings, with the examples of the contract.
 *
 * @returns {Map<string, object>} by file name
 */
export function schemaFiles() {
  const generator = createGenerator({
    path: join(CORE, "src", "protocol.ts"),
    tsconfig: join(CORE, "tsconfig.json"),
    // The types of all packages are checked where `npm run check` does it.
    skipTypeCheck: true,
    topRef: false,
    additionalProperties: true,
  });
  const examples = contractExamples();
  return new Map(
    TYPES.map((type) => {
      const name = type.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
      const { $schema, description, ...schema } = generator.createSchema(type);
      const $id = `urn:acp-steering:schema:1:${name}`;
      const $comment = 'Made from src/protocol.ts by "npm run schemas". "spec" is the contract, docs/contract.md.';
      return [
        `${name}.json`,
        { $schema, $id, $comment, title: type, description, ...schema, examples: examples.get(name) ?? [] },
      ];
    }),
  );
}

/**
 * The blocks of the contract that are marked as an example of a schema.
 *
 * @returns {Map<string, unknown[]>} by the name of the schema
 */
export function contractExamples() {
  /** @type {Map<string, unknown[]>} */
  const examples = new Map();
  for (const [, name = "", block = ""] of readFileSync(CONTRACT, "utf8").matchAll(
    /^```json ([a-z-]+)\r?\n([\s\S]*?)^```/gm,
  )) {
    examples.set(name, [...(examples.get(name) ?? []), JSON.parse(block)]);
  }
  return examples;
}
