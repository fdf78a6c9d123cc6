import type { JsonLimits } from '../../payload/read-json.ts';
import type { TimeWindow } from '../../payload/time-window.ts';
import type { InflateSettings } from '../../http/inflate.ts';

/** Messages in one request: some of these libraries know no limit of their own. */
export const compatRowsMax = 10_000;

export type CompatSettings = {
  /** Of a whole request, after decompression. */
  readonly bodyBytesMax: number;
  readonly rowsMax: number;
  /** Of one event, as it is stored. */
  readonly eventBytesMax: number;
  readonly limits: JsonLimits;
  readonly timeWindow: TimeWindow;
  readonly inflate: InflateSettings;
};
