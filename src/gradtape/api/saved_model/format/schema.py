"""The messages of a SavedModel, from TensorFlow's `.proto` files, as far as gradtape reads and writes them.

A line is a message: fields with number, name and type. `*` means repeated, `{}` a map from text, `{int: }` from
numbers.
"""

SCHEMA = """\
SavedModel: 1 saved_model_schema_version int, 2 meta_graphs *MetaGraphDef
MetaGraphDef: 1 meta_info_def MetaInfoDef, 2 graph_def GraphDef, 3 saver_def SaverDef, 4 collection_def {CollectionDef},
    5 signature_def {SignatureDef}, 6 asset_file_def *AssetFileDef, 7 object_graph_def SavedObjectGraph
MetaInfoDef: 1 meta_graph_version str, 4 tags *str, 5 tensorflow_version str, 6 tensorflow_git_version str,
    7 stripped_default_attrs bool, 8 function_aliases {str}
SaverDef: 1 filename_tensor_name str, 2 save_tensor_name str, 3 restore_op_name str, 4 max_to_keep int, 5 sharded bool,
    6 keep_checkpoint_every_n_hours float, 7 version int
CollectionDef: 1 node_list NodeList
NodeList: 1 value *str
SignatureDef: 1 inputs {TensorInfo}, 2 outputs {TensorInfo}, 3 method_name str
TensorInfo: 1 name str, 2 dtype int, 3 tensor_shape TensorShapeProto
AssetFileDef: 1 tensor_info TensorInfo, 2 filename str
TensorShapeProto: 2 dim *Dim, 3 unknown_rank bool
Dim: 1 size int
GraphDef: 1 node *NodeDef, 4 versions VersionDef, 2 library FunctionDefLibrary
VersionDef: 1 producer int, 2 min_consumer int, 3 bad_consumers *int
NodeDef: 1 name str, 2 op str, 3 input *str, 4 device str, 5 attr {AttrValue}
AttrValue: 2 s bytes, 3 i int, 4 f float, 5 b bool, 6 type int, 7 shape TensorShapeProto, 8 tensor raw,
    1 list AttrList, 10 func NameAttrList, 9 placeholder str
AttrList: 2 s *bytes, 3 i *int, 4 f *float, 5 b *bool, 6 type *int, 7 shape *TensorShapeProto, 8 tensor *raw,
    9 func *NameAttrList
NameAttrList: 1 name str, 2 attr {AttrValue}
FunctionDefLibrary: 1 function *FunctionDef, 2 gradient *GradientDef, 3 registered_gradients *RegisteredGradient
GradientDef: 1 function_name str, 2 gradient_func str
RegisteredGradient: 1 gradient_func str, 2 registered_op_type str
FunctionDef: 1 signature OpDef, 5 attr {AttrValue}, 7 arg_attr {int: ArgAttrs}, 3 node_def *NodeDef, 4 ret {str},
    6 control_ret {str}
ArgAttrs: 1 attr {AttrValue}
OpDef: 1 name str, 2 input_arg *ArgDef, 3 output_arg *ArgDef, 20 control_output *str, 17 is_stateful bool
ArgDef: 1 name str, 3 type int, 4 type_attr str, 5 number_attr str, 6 type_list_attr str, 7 handle_data *DtypeAndShape
DtypeAndShape: 1 dtype int, 2 shape TensorShapeProto
SavedObjectGraph: 1 nodes *SavedObject, 2 concrete_functions {SavedConcreteFunction}
SavedObject: 1 children *ObjectReference, 15 dependencies *ObjectReference, 3 slot_variables *SlotVariableReference,
    4 user_object SavedUserObject, 5 asset SavedAsset, 6 function SavedFunction, 7 variable SavedVariable,
    8 bare_concrete_function SavedBareConcreteFunction, 9 constant SavedConstant, 10 resource SavedResource,
    12 captured_tensor CapturedTensor, 11 saveable_objects {SaveableObject}, 13 registered_name str,
    16 registered_saver str
ObjectReference: 1 node_id int, 2 local_name str
SlotVariableReference: 1 original_variable_node_id int, 2 slot_name str, 3 slot_variable_node_id int
SavedUserObject: 1 identifier str, 2 version VersionDef, 3 metadata str
SavedAsset: 1 asset_file_def_index int
SavedFunction: 1 concrete_functions *str, 2 function_spec FunctionSpec
FunctionSpec: 1 fullargspec StructuredValue, 2 is_method bool, 5 input_signature StructuredValue, 6 jit_compile int
SavedVariable: 1 dtype int, 2 shape TensorShapeProto, 3 trainable bool, 4 synchronization int, 5 aggregation int,
    6 name str, 7 device str
SavedBareConcreteFunction: 1 concrete_function_name str, 2 argument_keywords *str, 3 allowed_positional_arguments int,
    4 function_spec FunctionSpec
SavedConstant: 1 operation str
SavedResource: 1 device str
CapturedTensor: 1 name str, 2 concrete_function str
SaveableObject: 2 save_function int, 3 restore_function int
SavedConcreteFunction: 2 bound_inputs *int, 3 canonicalized_input_signature StructuredValue,
    4 output_signature StructuredValue
StructuredValue: 1 none_value NoneValue, 11 float64_value double, 12 int64_value zigzag, 13 string_value str,
    14 bool_value bool, 31 tensor_shape_value TensorShapeProto, 32 tensor_dtype_value int,
    33 tensor_spec_value TensorSpecProto, 34 type_spec_value TypeSpecProto, 51 list_value StructuredList,
    52 tuple_value StructuredList, 53 dict_value DictValue, 54 named_tuple_value NamedTupleValue, 55 tensor_value raw,
    56 numpy_value raw
NoneValue:
TensorSpecProto: 1 name str, 2 shape TensorShapeProto, 3 dtype int
TypeSpecProto: 1 type_spec_class int, 2 type_state StructuredValue, 3 type_spec_class_name str,
    4 num_flat_components int
StructuredList: 1 values *StructuredValue
DictValue: 1 fields {StructuredValue}
NamedTupleValue: 1 name str, 2 values *PairValue
PairValue: 1 key str, 2 value StructuredValue
"""
