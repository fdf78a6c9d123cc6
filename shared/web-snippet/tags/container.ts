import type { PageLogic } from './page-logic.ts';

/** A text with `{{Name}}` placeholders for variables. */
export type Template = string;

export type ContainerVariable = readonly [type: string, value: string, otherwise: string | null];

export type ContainerTrigger = {
  readonly type: string;
  /** Name of the event that fires the trigger. */
  readonly event?: string;
  /** CSS selector of the observed elements. */
  readonly selector?: string;
  /** Scroll depth in percent of the page. */
  readonly percent?: number;
  readonly everyMs?: number;
  /** Maximum number of times that the trigger fires on a page. */
  readonly limit?: number;
  readonly logic?: PageLogic;
};

export type ContainerTag = {
  readonly name: string;
  readonly type: string;
  /** The content to run, load or send, by tag type. */
  readonly content: Template;
  readonly integrity?: string;
  readonly properties?: readonly (readonly [name: string, value: Template])[];
  /** Indexes of the triggers that fire the tag. `not` has the indexes of the triggers that block it. */
  readonly on: readonly number[];
  readonly not?: readonly number[];
  /**
   * Purposes that must all be granted, with the effect of Global Privacy Control on each. `asks`: a consent platform may
   * deny the purpose, so that its default does not grant it.
   */
  readonly needs?: readonly (readonly [purpose: string, gpc: string, asks?: true])[];
  readonly once?: true;
};

/** A page's tags, served as JSON and read by the tag script. */
export type Container = {
  readonly variables: Readonly<Record<string, ContainerVariable>>;
  readonly triggers: readonly ContainerTrigger[];
  /** Sorted in the order in which tags run if they fire together. */
  readonly tags: readonly ContainerTag[];
};
