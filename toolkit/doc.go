// Package toolkit is the bodies of the host's own tools: commands, files, the web,
// and the tools of MCP servers.
//
// A body decides nothing: the license is in the document before it begins. But
// a license is for what was judged, and between the vote and the body the
// machine goes on. So every file body opens exactly the prepared path of its
// licensed leaf, component by component, and refuses one that leads elsewhere
// by now (law §7, ruling 9). Mode yolo does not skip that.
//
// What a body could not do is an outcome {"ok":false,"text":...} that says what
// and why, for the model to read. What a body did is told as it was, also when
// it was cut short.
//
// Start reading at [Register], and at [jail] for what may be opened.
package toolkit
