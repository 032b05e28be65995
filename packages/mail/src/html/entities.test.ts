// Character references as browsers read them.
import { expect, test } from 'vitest'
import { decodeEntities } from './entities.ts'

test.each([
  ['plain', 'plain'],
  ['&amp;&lt;&gt;&quot;&apos;', '&<>"\''],
  ['&Auml;&auml;&THORN;&sup2;&frac12;&there4;', 'Ää\u00de²½∴'],
  ['&equals;&semi;&NewLine;&Tab;&rcub;', '=;\n\t}'],
  ['&#65;&#x41;&#X41;&#65 &#x41', 'AAAA A'],
  ['&#128;&#x9f;&#127;&#160;', '€Ÿ\u007f\u00a0'],
  ['&#0;&#xd7ff;&#xd800;&#xdfff;&#xe000;', '\ufffd\ud7ff\ufffd\ufffd\ue000'],
  ['&#x10ffff;&#x110000;&#99999999;', '\u{10ffff}\ufffd\ufffd'],
  ['&#x;&#;&;&', '&#x;&#;&;&'],
  // Without a semicolon only where HTML allows it.
  ['&amp&lt&gt&quot&nbsp&auml&ouml&uuml&Auml&Ouml&Uuml&szlig&eacute&egrave&agrave', '&<>"\u00a0äöüÄÖÜßéèà'],
  ['?a=1&copy=2&euro', '?a=1&copy=2&euro'],
  ['&unknown;&Amp;&AMP;', '&unknown;&Amp;&AMP;'],
  ['&amp;lt;', '&lt;'],
])('%j is %j', (text, decoded) => expect(decodeEntities(text)).toBe(decoded))
