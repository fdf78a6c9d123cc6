import type { OfferedDestination } from '../../../../shared/destinations/common-settings.ts';
import type { DispatchPlan } from '../../../../shared/routing/dispatch-plan.ts';
import type { PublishedDestination } from '../../../../shared/routing/published-destinations.ts';
import type { NoticeFetch } from '../../../../shared/sources/sdk/notice-fetch.ts';

/** A destination as published: its rules and its prepared kind, or the reason why neither can be used. */
export type DispatchTarget = {
  readonly destination: PublishedDestination;
  /** The number of the live version among the account's versions. */
  readonly versionNumber: number;
  /** When that version was published, in ms since the epoch. */
  readonly publishedAtMs: number;
  /** How to request the content of a notice, for a source of notices. */
  readonly fetch?: NoticeFetch | undefined;
} & (
  | { readonly plan: DispatchPlan; readonly prepared: OfferedDestination; readonly problem: undefined }
  /** `problem` never contains the value of a setting. */
  | { readonly plan: undefined; readonly prepared: undefined; readonly problem: string }
);
