import type { PageLogic } from './page-logic.ts';

/** A text with `{{Name}}` for the values of variables. */
export type Template = string;

export type ContainerVariable = readonly [type: string, value: string, otherwise: string | null];

export type ContainerTrigger = {
  readonly type: string;
  /** Name of the event it waits for. */
  readonly event?: string;
  /** CSS selector of the elements it is about. */
  readonly selector?: string;
  /** Percent of the page. */
  readonly percent?: number;
  readonly everyMs?: number;
  /** How often it fires on a page at most. */
  readonly limit?: number;
  readonly logic?: PageLogic;
};

export type ContainerTag = {
  readonly name: string;
  readonly type: string;
  /** The object that it runs, loads or sends, by its type. */
  readonly content: Template;
  readonly integrity?: string;
  readonly properties?: readonly (readonly [name: string, value: Template])[];
  /** Places in the list of triggers. */
  readonly on: readonly number[];
  readonly not?: readonly number[];
  /** Purposes that all have to be granted, with what Global Privacy Control does to each. */
  readonly needs?: readonly (readonly [purpose: string, gpc: string])[];
  readonly once?: true;
};

/** The tags of a page: served as JSON, and read by the script of tags. */
export type Container = {
  readonly variables: Readonly<Record<string, ContainerVariable>>;
  readonly triggers: readonly ContainerTrigger[];
  /** In the order in which they run, where several do at once. */
  readonly tags: readonly ContainerTag[];
};
