import assert from "node:assert/strict";
import { test } from "node:test";
import { performanceLevel } from "./dora-level.ts";

const best = { deployment_frequency: 3, lead_time_hours: 0.5, change_failure_rate: 0.01, mttr_hours: 0.2 };

test("the weakest figure decides, at the bounds of the published clusters", () => {
  const levels: [Partial<typeof best>, string][] = [
    [{}, "elite"],
    [{ deployment_frequency: 1 }, "high"],
    [{ deployment_frequency: 1 / 7 }, "high"],
    [{ deployment_frequency: 0.14 }, "medium"],
    [{ deployment_frequency: 1 / 30 }, "medium"],
    [{ deployment_frequency: 0.03 }, "low"],
    [{ lead_time_hours: 23.9 }, "elite"],
    [{ lead_time_hours: 24 }, "high"],
    [{ lead_time_hours: 168 }, "medium"],
    [{ lead_time_hours: 720 }, "low"],
    [{ change_failure_rate: 0.05 }, "elite"],
    [{ change_failure_rate: 0.1 }, "high"],
    [{ change_failure_rate: 0.15 }, "medium"],
    [{ change_failure_rate: 0.16 }, "low"],
    [{ mttr_hours: 1 }, "high"],
    [{ mttr_hours: 24 }, "medium"],
    [{ mttr_hours: 168 }, "low"],
    [{ mttr_hours: 30, deployment_frequency: 0.5 }, "medium"],
  ];
  for (const [figures, level] of levels)
    assert.equal(performanceLevel({ ...best, ...figures }), level, JSON.stringify(figures));
});

test("what could not be measured holds nobody back, but no deployment is no delivery", () => {
  const unknown = { lead_time_hours: null, change_failure_rate: null, mttr_hours: null };
  assert.equal(performanceLevel({ ...unknown, deployment_frequency: 2 }), "elite");
  assert.equal(performanceLevel({ ...unknown, deployment_frequency: 0 }), "low");
});
