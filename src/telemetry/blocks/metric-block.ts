import { ArrayColumn } from "./array-column.ts";
import { Block } from "./block.ts";
import { FixedColumn } from "./fixed-column.ts";
import { LowCardinalityColumn } from "./low-cardinality-column.ts";
import { MapColumn } from "./map-column.ts";
import { RunColumn } from "./run-column.ts";
import { StringColumn } from "./string-column.ts";

/** Rows for `tables/metric_points.sql`, where each column is described. */
export class MetricBlock extends Block {
  readonly metricName = new RunColumn("metric_name");
  readonly description = new RunColumn("description");
  readonly unit = new RunColumn("unit");
  readonly metricType = new RunColumn("type");
  readonly temporality = new FixedColumn("temporality", "UInt8");
  readonly isMonotonic = new FixedColumn("is_monotonic", "UInt8");
  readonly metadata = new RunColumn("metadata");
  readonly startTs = new FixedColumn("start_ts", "DateTime64(9, 'UTC')");
  readonly ts = new FixedColumn("ts", "DateTime64(9, 'UTC')");
  readonly flags = new FixedColumn("flags", "UInt32");
  readonly valueType = new LowCardinalityColumn("value_type");
  readonly value = new FixedColumn("value", "Float64");
  readonly valueInt = new FixedColumn("value_int", "Int64");
  readonly count = new FixedColumn("count", "UInt64");
  readonly sum = new FixedColumn("sum", "Float64");
  readonly min = new FixedColumn("min", "Float64");
  readonly max = new FixedColumn("max", "Float64");
  readonly present = new FixedColumn("present", "UInt8");
  readonly bucketCounts = new ArrayColumn("bucket_counts", "UInt64");
  readonly explicitBounds = new ArrayColumn("explicit_bounds", "Float64");
  readonly scale = new FixedColumn("scale", "Int32");
  readonly zeroCount = new FixedColumn("zero_count", "UInt64");
  readonly zeroThreshold = new FixedColumn("zero_threshold", "Float64");
  readonly positiveOffset = new FixedColumn("positive_offset", "Int32");
  readonly positiveCounts = new ArrayColumn("positive_counts", "UInt64");
  readonly negativeOffset = new FixedColumn("negative_offset", "Int32");
  readonly negativeCounts = new ArrayColumn("negative_counts", "UInt64");
  readonly quantiles = new ArrayColumn("quantiles", "Float64");
  readonly quantileValues = new ArrayColumn("quantile_values", "Float64");
  readonly exemplars = new StringColumn("exemplars");
  readonly attributes = new MapColumn("attributes");
  readonly attributeTypes = new LowCardinalityColumn("attribute_types");

  readonly columns = [
    ...this.shared(),
    this.metricName,
    this.description,
    this.unit,
    this.metricType,
    this.temporality,
    this.isMonotonic,
    this.metadata,
    this.startTs,
    this.ts,
    this.flags,
    this.valueType,
    this.value,
    this.valueInt,
    this.count,
    this.sum,
    this.min,
    this.max,
    this.present,
    this.bucketCounts,
    this.explicitBounds,
    this.scale,
    this.zeroCount,
    this.zeroThreshold,
    this.positiveOffset,
    this.positiveCounts,
    this.negativeOffset,
    this.negativeCounts,
    this.quantiles,
    this.quantileValues,
    this.exemplars,
    this.attributes,
    this.attributeTypes,
  ];

  /**
   * Gives all rows since the last call the metric that they are points of. The arguments are entries of the columns
   * that have these names.
   */
  shareMetric(name: number, description: number, unit: number, type: number, metadata: number): void {
    const end = this.rows;
    this.metricName.setUntil(end, name);
    this.description.setUntil(end, description);
    this.unit.setUntil(end, unit);
    this.metricType.setUntil(end, type);
    this.metadata.setUntil(end, metadata);
  }
}
