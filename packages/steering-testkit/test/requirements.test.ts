import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { BOUNDARY_CASES, CASES } from "../src/cases/index.js";
import { REQUIREMENTS } from "../src/requirements/requirements.js";
import { requirementsPage } from "./requirements-page.js";

const PAGE = new URL("../../../docs/requirements.md", import.meta.url);
const ALL = [...CASES, ...BOUNDARY_CASES];

describe("the requirements", () => {
  test("have an id of their own each", () => {
    const ids = REQUIREMENTS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each(REQUIREMENTS)("$id is judged by a case", ({ id }) => {
    expect(ALL.map(({ requirement }) => requirement)).toContain(id);
  });

  test("have cases that can be told apart", () => {
    const names = ALL.map(({ requirement, title }) => `${requirement}: ${title}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("stand in docs/requirements.md as they are (REFRESH_REQUIREMENTS=1 writes it)", () => {
    const page = requirementsPage();
    if (process.env["REFRESH_REQUIREMENTS"] === "1") writeFileSync(PAGE, page);
    expect(readFileSync(PAGE, "utf8")).toBe(page);
  });
});
