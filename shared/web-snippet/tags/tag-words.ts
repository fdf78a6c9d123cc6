/**
 * The effects of a tag on a page. CustomHtml is not among them: markup that is put into a page does not run its scripts.
 */
export const tagTypes = ['CustomScript', 'ScriptSource', 'ImagePixel', 'TrackEvent'] as const;

export const triggerTypes = [
  'PageView',
  'DomReady',
  'WindowLoaded',
  'Click',
  'FormSubmission',
  'ScrollDepth',
  'Timer',
  'HistoryChange',
  'CustomEvent',
] as const;

export const variableTypes = [
  'Constant',
  'DataLayer',
  'Cookie',
  'UrlParameter',
  'UrlPart',
  'Element',
  'Script',
  'EventProperty',
] as const;

export const urlParts = ['url', 'host', 'path', 'query', 'fragment'] as const;

/** Operators of the logic of a trigger: what runs in a page has a size. */
export const pageOperators = [
  'Is',
  'IsNot',
  'IsIn',
  'IsNotIn',
  'Contains',
  'DoesNotContain',
  'StartsWith',
  'EndsWith',
  'IsFalsy',
  'IsTruthy',
  'IsNull',
  'IsNotNull',
  'IsUndefined',
  'IsNotUndefined',
  'IsTrue',
  'IsFalse',
  'IsGreaterThan',
  'IsGreaterThanOrEqual',
  'IsLessThan',
  'IsLessThanOrEqual',
] as const;
