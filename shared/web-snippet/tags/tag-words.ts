/** Tag types. CustomHtml is not among them, because a browser does not run scripts in inserted markup. */
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

/** Operators of a trigger's logic. There are few, because the tag script has a size limit. */
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
